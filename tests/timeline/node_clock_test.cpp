// Clocks that drift, against a slow reading of what a curve says.

#include "monitor/timeline/node_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "monitor/timeline/timeline.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

using std::chrono::seconds;

ClockCurve random_curve(std::mt19937_64& random) {
  ClockCurve curve{{}, {}};
  ClockKnot knot{Nanoseconds(std::int64_t(random() % 1'000'000'000'000)),
                 Nanoseconds(std::int64_t(random() % 2'000'000'000'000) - 1'000'000'000'000)};
  const double steepest = random() % 4 == 0 ? ClockCurve::kSteepest : 1e-5;
  for (auto knots = 2 + random() % 30; knots > 0; --knots) {
    curve.knots.push_back(knot);
    const auto length = std::int64_t(1 + random() % (random() % 8 == 0 ? 1000 : 3'000'000'000));
    knot.at += Nanoseconds(length);
    knot.offset +=
        Nanoseconds(std::int64_t(std::uniform_real_distribution<double>(-1, 1)(random) * steepest * double(length)));
  }
  return curve;
}

/// By looking at one knot after the other.
double read_slowly(const ClockCurve& curve, Nanoseconds at) {
  const auto& knots = curve.knots;
  std::size_t i = 0;
  while (i + 2 < knots.size() && at >= knots[i + 1].at) ++i;
  const double slope =
      double((knots[i + 1].offset - knots[i].offset).count()) / double((knots[i + 1].at - knots[i].at).count());
  return double(knots[i].offset.count()) + slope * double((at - knots[i].at).count());
}

TEST(ClockCurve, ReadsStraightLinesFromKnotToKnot) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const ClockCurve curve = random_curve(random);
    const Nanoseconds from = curve.knots.front().at - seconds(5), length = curve.knots.back().at - from + seconds(5);
    for (int i = 0; i < 50; ++i) {
      const Nanoseconds at = from + Nanoseconds(std::int64_t(random() % std::uint64_t(length.count())));
      ASSERT_NEAR(double(curve.offset_at(at).count()), read_slowly(curve, at), 1.0);
    }
  }
}

TEST(NodeClock, TakesMomentsToSessionTimeAndBackWithoutChangingTheirOrder) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    NodeClock clock;
    clock.bends = random_curve(random).knots;
    const Nanoseconds from = clock.bends.front().at - seconds(5), length = clock.bends.back().at - from + seconds(5);
    for (int i = 0; i < 50; ++i) {
      const Nanoseconds at = from + Nanoseconds(std::int64_t(random() % std::uint64_t(length.count()))), one{1};
      const Nanoseconds session = clock.session_time(at);
      ASSERT_LE(session, clock.session_time(at + one));
      const Nanoseconds back = clock.lane_time(session);
      ASSERT_LE(back, at);
      ASSERT_GE(clock.session_time(back), session);
      ASSERT_LT(clock.session_time(back - one), session) << "there is an earlier one";
      const Nanoseconds between = session + Nanoseconds(std::int64_t(random() % 1000));
      ASSERT_EQ(at < clock.lane_time(between), session < between);
    }
    EXPECT_EQ(clock.lane_time(Nanoseconds::max()), Nanoseconds::max());
  }
}

TEST(Timeline, ReadsADriftingClockAsItsCurveSays) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    Timeline timeline;
    ASSERT_TRUE(timeline.apply_roster("a", roster(0, 1, 2)));
    ASSERT_TRUE(timeline.apply_roster("b", roster(1, 2, 2)));
    timeline.begin_at("a", seconds(1));
    const ClockCurve curve = random_curve(random);
    std::vector<wire::Event> events;
    Nanoseconds at = curve.knots.front().at;
    for (wire::Step step = 0; step < 200; ++step) {
      events.push_back({at, std::uint64_t(step), wire::EventKind::kStep, wire::Phase::kCompute});
      at += Nanoseconds(std::int64_t(1000 + random() % 200'000'000));
    }
    timeline.append("b", rank_lane(1), events);
    timeline.set_clock("b", curve);  // Known only afterwards.
    const Lane& lane = *timeline.lane(1);
    ASSERT_EQ(lane.steps().size(), events.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Nanoseconds begin = lane.steps()[i].begin;
      ASSERT_NEAR(double((begin - (events[i].time - seconds(1))).count()), -read_slowly(curve, events[i].time), 2.0);
      ASSERT_EQ(begin, timeline.session_time("b", events[i].time));
      const bool is_later = i == 0 || begin > lane.steps()[i - 1].begin;
      ASSERT_TRUE(!is_later || lane.steps_begun_before(begin) == i);
    }
  }
}

TEST(Timeline, PassesOverACurveThatCantBe) {
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("a", roster(0, 1, 1)));
  timeline.begin_at("a", seconds(1));
  timeline.set_clock("a", {{{seconds(1), seconds(0)}, {seconds(2), seconds(1)}}, {}});
  timeline.set_clock("a", {{{seconds(2), seconds(0)}, {seconds(2), seconds(0)}}, {}});
  timeline.set_clock("a", {{}, {}});
  timeline.set_clock("a", {{{Nanoseconds::max(), seconds(0)}}, {}});
  EXPECT_EQ(timeline.session_time("a", seconds(5)), seconds(4));
}

TEST(Timeline, KnowsHowFarTheClocksOfTwoRanksMayBeApart) {
  Timeline timeline;
  wire::Roster a = roster(0, 2, 4), b = roster(2, 3, 4);
  a.agent_pid = 1, b.agent_pid = 2;
  ASSERT_TRUE(timeline.apply_roster("a", a));
  ASSERT_TRUE(timeline.apply_roster("b", b));
  EXPECT_EQ(timeline.clock_error(0, 1), Nanoseconds(0));
  EXPECT_EQ(timeline.clock_error(0, 2), std::nullopt) << "nobody has compared them";
  timeline.set_clock("a", {{{}}, Nanoseconds(30)});
  timeline.set_clock("b", {{{}}, Nanoseconds(12)});
  EXPECT_EQ(timeline.clock_error(0, 2), Nanoseconds(42));
  EXPECT_EQ(timeline.clock_error(0, 3), std::nullopt) << "nobody has announced that rank";
}

}  // namespace
}  // namespace idlewave::timeline
