#include "probe/signals/interrupted.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace idlewave::signals {
namespace {

/// In a process of its own, as it stays for good: 0 if what comes interrupts it.
[[noreturn]] void exit_with_what_comes(int signal, bool under_nohup = false) {
  ::signal(SIGHUP, under_nohup ? SIG_IGN : SIG_DFL);
  if (interrupted()) ::_exit(3);
  ::raise(signal);
  ::_exit(interrupted() ? 0 : 1);
}

TEST(Interrupted, IsSaidByEachSignalThatAsksForAnEnd) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    EXPECT_EXIT(exit_with_what_comes(signal), ::testing::ExitedWithCode(0), "") << signal;
}

TEST(Interrupted, IsNotSaidByAHangUpUnderNohup) {
  EXPECT_EXIT(exit_with_what_comes(SIGHUP, true), ::testing::ExitedWithCode(1), "");
}

TEST(Interrupted, LeavesOtherSignalsAlone) {
  EXPECT_EXIT(exit_with_what_comes(SIGQUIT), ::testing::KilledBySignal(SIGQUIT), "");
}

}  // namespace
}  // namespace idlewave::signals
