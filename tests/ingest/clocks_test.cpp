#include "monitor/ingest/clocks.h"

#include <gtest/gtest.h>

#include "tests/any_seed.h"
#include "tests/ingest/simulated_clocks.h"

namespace idlewave::ingest {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using timeline::ClockCurve;

/// Feeds the trips of some nodes, a second each, and keeps what is told.
class Watch {
 public:
  explicit Watch(std::uint64_t seed) : random(seed) { clocks.guess("a", {}); }

  void ask(const std::string& name, const SimulatedClock& node, const SimulatedClock& reference, double at,
           std::uint32_t number = 7) {
    auto trip = round_trip(node, reference, at, {.jitter_s = 20e-6}, random);
    trip->reference = number;
    if (auto curve = clocks.take(name, {&*trip, 1})) told[name] = *curve, ++times[name];
  }
  Nanoseconds session_time(const std::string& name, const SimulatedClock& node, double at) {
    return node.at(at) - told.at(name).offset_at(node.at(at));
  }

  std::mt19937_64 random;
  Clocks clocks;
  std::map<std::string, ClockCurve> told;
  std::map<std::string, int> times;
};

TEST(Clocks, OfSeveralNodesShowOneTime) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  Watch watch(seed);
  const SimulatedClock reference(watch.random, 100, 1e-8), a(watch.random, 100, 1e-8), b(watch.random, 100, 1e-8);
  for (int second = 0; second < 90; ++second) {
    watch.ask("a", a, reference, second);
    watch.ask("b", b, reference, second + 0.4);
    if (second < 10) continue;
    const Nanoseconds apart = watch.session_time("a", a, second) - watch.session_time("b", b, second);
    ASSERT_LE(std::chrono::abs(apart), *watch.told["a"].error + *watch.told["b"].error) << "after " << second << " s";
    ASSERT_LE(*watch.told["a"].error, microseconds(500));
  }
}

TEST(Clocks, AreNotToldAnewWithEveryTrip) {
  Watch watch(5);
  const SimulatedClock reference(watch.random, 700, 1e-9), a(watch.random, 700, 1e-9);
  for (int second = 0; second < 600; ++second) watch.ask("a", a, reference, second);
  EXPECT_GE(watch.times["a"], 1);
  EXPECT_LE(watch.times["a"], 100);
}

TEST(Clocks, GoOnWhereAnotherMonitorTakesOver) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  Watch watch(seed);
  const SimulatedClock first(watch.random, 100, 1e-9), second(watch.random, 100, 1e-9);
  const SimulatedClock a(watch.random, 100, 1e-9), b(watch.random, 100, 1e-9);
  for (int at = 0; at < 30; ++at) watch.ask("a", a, first, at), watch.ask("b", b, first, at + 0.3);
  const Nanoseconds before = watch.session_time("a", a, 30);
  for (int at = 31; at < 60; ++at) watch.ask("b", b, second, at, 8), watch.ask("a", a, second, at + 0.3, 8);
  EXPECT_LE(std::chrono::abs(watch.session_time("a", a, 30) - before), std::chrono::milliseconds(2));
  const Nanoseconds apart = watch.session_time("a", a, 58) - watch.session_time("b", b, 58);
  EXPECT_LE(std::chrono::abs(apart), *watch.told["a"].error + *watch.told["b"].error);
}

TEST(Clocks, AreSetByTheNodeThatCameFirstUnlessItTellsNothing) {
  const wire::RoundTrip trip{seconds(10), seconds(70), seconds(70), seconds(10) + microseconds(80), 1};
  Clocks clocks, alone;
  for (Clocks* each : {&clocks, &alone}) each->guess("a", {}), each->guess("b", seconds(3));
  EXPECT_FALSE(clocks.take("b", {&trip, 1}));
  EXPECT_EQ(clocks.take("a", {&trip, 1})->offset_at(seconds(10)), seconds(0));
  EXPECT_EQ(clocks.take("b", {&trip, 1})->offset_at(seconds(10)), seconds(0)) << "it is the same clock";
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(alone.take("b", {&trip, 1}));
  EXPECT_EQ(alone.take("b", {&trip, 1})->offset_at(seconds(10)), seconds(3));
}

TEST(Clocks, AreKnownByTripsThatWereToldBeforeTheFirstNodeSpoke) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  for (const bool first_speaks : {true, false}) {
    Watch watch(seed);
    const SimulatedClock reference(watch.random, 100, 1e-9), a(watch.random, 100, 1e-9), b(watch.random, 100, 1e-9);
    for (int second = 0; second < 6; ++second) watch.ask("b", b, reference, second);
    if (first_speaks) watch.ask("a", a, reference, 6);
    const auto curve = watch.clocks.settle("b");
    ASSERT_TRUE(curve && curve->error);
    watch.told["b"] = *curve;
    if (!first_speaks) watch.ask("a", a, reference, 6);
    const Nanoseconds apart = watch.session_time("a", a, 5) - watch.session_time("b", b, 5);
    EXPECT_LE(std::chrono::abs(apart), *watch.told["a"].error + *watch.told["b"].error);
  }
}

TEST(Clocks, BeginWithWhatTheWallClockSaid) {
  Clocks clocks;
  clocks.guess("a", seconds(3));
  const wire::RoundTrip trip{seconds(10), seconds(70), seconds(70), seconds(10) + microseconds(80), 1};
  const auto curve = clocks.take("a", {&trip, 1});
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->offset_at(seconds(10)), seconds(3)) << "who is the first to ask sets the session's clock";
  EXPECT_EQ(*curve->error, microseconds(40) + Nanoseconds(1) + microseconds(200)) << "a second later, by 200 ppm";
}

TEST(Clocks, PassOverTripsThatCantBe) {
  Clocks clocks;
  const Nanoseconds never = Nanoseconds::max(), once = Nanoseconds::min();
  const std::vector<wire::RoundTrip> trips = {
      {once, once, never, never, 1},
      {never, never, never, never, 1},
      {seconds(0), seconds(0), seconds(0), seconds(2), 1},
      {seconds(0), seconds(0), seconds(9), seconds(0), 1},
  };
  EXPECT_FALSE(clocks.take("a", trips));
  EXPECT_FALSE(clocks.settle("a"));
}

TEST(Clocks, TakeWhateverTripsTellWithoutHarm) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    Clocks clocks;
    std::int64_t asked = 0;
    for (int i = 0; i < 100; ++i) {
      asked += std::int64_t(random() >> (random() % 64) >> 8);
      wire::RoundTrip trip{Nanoseconds(asked),
                           Nanoseconds(std::int64_t(random() >> (random() % 64))),
                           {},
                           {},
                           std::uint32_t(random() % 3)};
      trip.told = trip.heard, trip.back = trip.asked + Nanoseconds(random() % 1'000'000'000);
      const auto curve = clocks.take("a", {&trip, 1});
      if (!curve) continue;
      ASSERT_FALSE(curve->knots.empty());
      for (std::size_t k = 1; k < curve->knots.size(); ++k) ASSERT_GT(curve->knots[k].at, curve->knots[k - 1].at);
    }
  }
}

}  // namespace
}  // namespace idlewave::ingest
