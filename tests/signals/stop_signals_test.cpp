#include "probe/signals/stop_signals.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace idlewave::signals {
namespace {

bool readable(int fd) {
  pollfd poller{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&poller, 1, 0) == 1;
}

TEST(StopSignals, SaysNothingWhileNobodyAsks) {
  const StopSignals stop;
  EXPECT_FALSE(stop.received());
  EXPECT_FALSE(readable(stop.fd()));
}

TEST(StopSignals, WakesTheLoopAndNamesTheFirstSignal) {
  const StopSignals stop;
  ::raise(SIGTERM);
  ::raise(SIGINT);
  EXPECT_TRUE(readable(stop.fd()));
  EXPECT_EQ(stop.received(), SIGTERM);
}

TEST(StopSignals, PutsBackWhatWasThereBefore) {
  ::signal(SIGINT, SIG_IGN);
  { const StopSignals stop; }
  EXPECT_EQ(::signal(SIGINT, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace idlewave::signals
