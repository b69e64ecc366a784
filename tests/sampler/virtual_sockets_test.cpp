#include "probe/sampler/virtual_sockets.h"

#include <gmock/gmock.h>

namespace idlewave::sampler {
namespace {

Nanoseconds ms(std::int64_t count) { return std::chrono::milliseconds(count); }

TEST(VirtualSockets, TellWhatTheModelMovedSinceTheFigureBefore) {
  VirtualSockets sockets;
  sockets.observe_model(2, {1000, ms(0)});
  sockets.begin(2, ms(0));
  sockets.observe_model(2, {1700, ms(0)});
  EXPECT_EQ(sockets.sample(2, ms(199)), std::nullopt);
  EXPECT_EQ(sockets.sample(2, ms(200)), 700u);
  EXPECT_EQ(sockets.sample(2, ms(399)), std::nullopt);
  EXPECT_EQ(sockets.sample(2, ms(400)), 0u);
}

/// The ranks may have moved them in all the time since their start.
TEST(VirtualSockets, CountNothingThatWasMovedBeforeTheModelFirstSpoke) {
  VirtualSockets sockets;
  sockets.observe_model(0, {});
  sockets.begin(0, ms(1000));
  sockets.observe_model(0, {});
  EXPECT_EQ(sockets.sample(0, ms(1200)), 0u);
  sockets.observe_model(0, {5000, ms(1201)});
  EXPECT_EQ(sockets.sample(0, ms(1210)), std::nullopt);
  sockets.observe_model(0, {5700, ms(1261)});
  EXPECT_EQ(sockets.sample(0, ms(1400)), std::nullopt);
  sockets.observe_model(0, {7000, ms(1401)});
  EXPECT_EQ(sockets.sample(0, ms(1411)), 2100u);
}

TEST(VirtualSockets, NeverTellsBytesThatMovedBack) {
  VirtualSockets sockets;
  sockets.observe_model(0, {1000, ms(0)});
  sockets.begin(0, ms(0));
  sockets.observe_model(0, {1500, ms(0)});
  sockets.observe_model(0, {20, ms(0)});  // a second program made the socket anew
  EXPECT_LE(*sockets.sample(0, ms(200)), 500u);
  sockets.observe_model(0, {120, ms(0)});
  EXPECT_EQ(sockets.sample(0, ms(400)), 100u);
}

/// Steps of 60 ms that move 3 GB, looked at every 36 ms as an agent does: a figure holds three or four ends of steps.
TEST(VirtualSockets, TellTheSameWhereverTheEndsOfStepsFall) {
  VirtualSockets sockets;
  const auto look = [&](Nanoseconds now) {
    const std::int64_t steps = now / ms(60);
    sockets.observe_model(0, {std::uint64_t(steps) * 3'000'000'000, ms(1) + ms(60) * steps});
  };
  look(ms(36));
  sockets.begin(0, ms(36));
  Nanoseconds told_at = ms(36);
  int figures = 0;
  for (Nanoseconds now = ms(72); now < ms(10'000); now += ms(36)) {
    look(now - ms(1));
    const auto moved = sockets.sample(0, now);
    if (!moved) continue;
    if (figures++ > 1) {
      EXPECT_NEAR(double(*moved) / double((now - told_at).count()), 50, 0.01);
    }
    told_at = now;
  }
  EXPECT_GT(figures, 30);
}

/// Of a step that did not end as was thought, a figure told too much; the next ones tell less.
TEST(VirtualSockets, TellNoByteTwiceWhereASocketStandsStill) {
  VirtualSockets sockets;
  sockets.observe_model(0, {0, ms(10)});
  sockets.begin(0, ms(10));
  sockets.observe_model(0, {2000, ms(210)});
  std::uint64_t told = *sockets.sample(0, ms(260));
  EXPECT_EQ(told, 2500u);
  told += *sockets.sample(0, ms(500));
  EXPECT_EQ(told, 2500u);
  sockets.observe_model(0, {3000, ms(800)});
  told += *sockets.sample(0, ms(1000));
  EXPECT_EQ(told, 3000u);
}

TEST(VirtualSockets, SurviveTimesThatAreNone) {
  VirtualSockets sockets;
  for (const std::int64_t at : {std::int64_t(-5), INT64_MAX, INT64_MIN, std::int64_t(3)}) {
    sockets.observe_model(0, {~std::uint64_t{0}, Nanoseconds(at)});
    sockets.begin(0, ms(0));
    sockets.observe_model(0, {~std::uint64_t{0}, Nanoseconds(7)});
    EXPECT_EQ(sockets.sample(0, ms(201)), 0u) << at;
  }
}

TEST(VirtualSockets, AreReadyForVirtualSocketsThatWereSeen) {
  VirtualSockets sockets;
  sockets.observe_model(1, {0, ms(0)});
  EXPECT_TRUE(sockets.standing({.id = 1, .is_virtual = true}, ms(0)).ready);
  EXPECT_FALSE(sockets.standing({.id = 1, .is_virtual = false}, ms(0)).ready);
  EXPECT_FALSE(sockets.standing({.id = 0, .is_virtual = true}, ms(0)).ready);
}

}  // namespace
}  // namespace idlewave::sampler
