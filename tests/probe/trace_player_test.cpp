// How long work is held up by a trace, against a list of all its detours and against the simulator.

#include "probe/client/trace_player.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "tests/any_seed.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::client {
namespace {

using support::NoiseTrace;
using wire::Nanoseconds;

/// Traces of all kinds: few detours and many, that overlap, that begin together, of no duration, that leave a thousandth for
/// work. Lines of no duration may stand anywhere.
NoiseTrace any_trace(std::mt19937_64& random) {
  const auto below = [&random](std::int64_t limit) { return std::int64_t(random() % std::uint64_t(limit)); };
  NoiseTrace trace;
  const std::int64_t apart = 1 + below(random() % 2 != 0 ? 20 : 1'000'000);
  const std::int64_t longest = 1 + below(random() % 2 != 0 ? apart : 4 * apart);
  std::int64_t start = below(apart), busy = 0;
  for (std::int64_t i = 1 + below(random() % 2 != 0 ? 4 : 60); i > 0; --i) {
    const std::int64_t duration = random() % 5 == 0 ? 0 : 1 + below(longest);
    trace.push_back({Nanoseconds(start), Nanoseconds(duration)});
    busy += duration;
    start += random() % 4 == 0 ? 0 : below(2 * apart);
  }
  if (busy == 0) trace.front().duration = Nanoseconds(busy = 1);
  const std::int64_t end = trace.back().start.count() + trace.back().duration.count();
  const std::int64_t least = busy + (random() % 3 == 0 ? busy / 900 + 1 : 1 + below(3 * busy + 1) + busy / 900);
  if (end < least || random() % 2 != 0) trace.push_back({Nanoseconds(std::max(least, start)), Nanoseconds(0)});
  return trace;
}

/// A trace in the room, as an order has it played.
struct Played {
  explicit Played(const NoiseTrace& trace, std::uint32_t first = 0) {
    order = {first, std::uint32_t(trace.size()), (trace.back().start + trace.back().duration).count(), 0, 0};
    for (const wire::Detour& detour : trace) {
      shm::put_detour(*room, first++, {detour.start.count(), detour.duration.count()});
      order.busy_ns += detour.duration.count();
    }
  }
  std::unique_ptr<shm::TraceRoom> room = std::make_unique<shm::TraceRoom>();
  shm::PlayedTrace order;
};

/// By the rule as it is written: looks at all detours one by one, from the first on.
class DetourList {
 public:
  DetourList(const NoiseTrace& trace, std::int64_t start) : trace_(trace), start_(start) {
    length_ = (trace.back().start + trace.back().duration).count();
  }
  std::int64_t after(std::int64_t begin, std::int64_t end) {
    begin = std::max(begin, counted_);
    if (end <= begin) return 0;
    std::int64_t idle = 0;
    for (std::int64_t round = start_ - length_; round < end + idle; round += length_)
      for (const wire::Detour& detour : trace_) {
        const std::int64_t at = round + detour.start.count();
        if (at >= begin && at < end + idle) idle += detour.duration.count();
      }
    counted_ = end + idle;
    return idle;
  }

 private:
  const NoiseTrace& trace_;
  std::int64_t start_;
  std::int64_t length_ = 0;
  std::int64_t counted_ = std::numeric_limits<std::int64_t>::min();
};

TEST(TracePlayer, HoldsUpWorkAsTheListOfAllDetoursSays) {
  for (unsigned seed = any_seed(), end = seed + 1500; seed != end; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const NoiseTrace trace = any_trace(random);
    Played played(trace, std::uint32_t(random() % 100));
    played.order.began_ns = std::int64_t(random() % 1'000'000'000'000);
    const double offset = std::generate_canonical<double, 53>(random);
    TracePlayer player;
    ASSERT_TRUE(player.begin(*played.room, played.order, offset));
    const std::int64_t length = played.order.length_ns;
    DetourList list(trace, played.order.began_ns - std::int64_t(offset * double(length)));
    std::int64_t at = played.order.began_ns;
    for (int piece = 0; piece < 12; ++piece) {
      // Pieces that begin in the time that the noise of the one before takes, and behind it; shorter than a detour, and
      // longer than some rounds.
      at += std::int64_t(random() % std::uint64_t(random() % 2 != 0 ? length / 4 + 2 : 3 * length));
      const auto work = std::int64_t(random() % std::uint64_t(random() % 2 != 0 ? length / 8 + 2 : 5 * length));
      ASSERT_EQ(player.after(at, at + work), list.after(at, at + work)) << "piece " << piece << ", " << work << " ns";
      at += work;
    }
  }
}

/// The simulator's moments are doubles, and its offset is one of its own; here its time is moved so that both stand at the
/// same place of the trace, and half a nanosecond keeps roundings away from where a detour counts or not.
TEST(TracePlayer, HoldsUpWorkAsTheSimulatorDoes) {
  for (unsigned seed = any_seed(), end = seed + 1500; seed != end; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const NoiseTrace trace = any_trace(random);
    Played played(trace);
    played.order.began_ns = std::int64_t(random() % 1'000'000);
    const std::int64_t length = played.order.length_ns;
    const double offset = std::generate_canonical<double, 53>(random);
    TracePlayer player;
    ASSERT_TRUE(player.begin(*played.room, played.order, offset));
    const std::int64_t start = played.order.began_ns - std::int64_t(offset * double(length));
    const sim::noise::Phases phases(seed, support::NoisePhase::kOwn);
    const sim::noise::TraceInterruptions simulated(trace, phases);
    const double behind = (1 - phases.of(3)) * double(length) - 0.5;
    const auto seconds = [&](std::int64_t moment) { return (double(moment - start) + behind) * 1e-9; };
    std::int64_t at = played.order.began_ns;
    for (int piece = 0; piece < 12; ++piece) {
      const auto work = std::int64_t(random() % std::uint64_t(random() % 2 != 0 ? length / 8 + 2 : 5 * length));
      const std::int64_t idle = player.after(at, at + work);
      const double expected = work == 0 ? 0 : 1e9 * simulated.after(3, piece, seconds(at), seconds(at + work));
      ASSERT_NEAR(double(idle), expected, 0.4) << "piece " << piece << ", " << work << " ns";
      at += work + idle + std::int64_t(random() % std::uint64_t(length));
    }
  }
}

TEST(TracePlayer, PlaysNothingThatCanNotBe) {
  const Played played({{Nanoseconds(5), Nanoseconds(10)}, {Nanoseconds(100), Nanoseconds(0)}});
  const auto plays = [&](auto change) {
    shm::PlayedTrace order = played.order;
    change(order);
    return TracePlayer().begin(*played.room, order, 0.5);
  };
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(plays([](auto&) {}));
  EXPECT_FALSE(plays([](auto& order) { order.count = 0; }));
  EXPECT_FALSE(plays([](auto& order) { order.count = 0xffffffff; }));
  EXPECT_FALSE(plays([](auto& order) { order.first = shm::kTraceRoom - 1; }));
  EXPECT_FALSE(plays([](auto& order) { order.first = 0xffffffff; }));
  EXPECT_FALSE(plays([](auto& order) { order.length_ns = kMost; }));
  EXPECT_FALSE(plays([](auto& order) { order.length_ns = -1; }));
  EXPECT_FALSE(plays([](auto& order) { order.busy_ns = order.length_ns; }));
  EXPECT_FALSE(plays([](auto& order) { order.busy_ns = -kMost; }));
  EXPECT_FALSE(plays([](auto& order) { order.began_ns = kMost; }));
  EXPECT_FALSE(plays([](auto& order) { order.began_ns = -1; }));
}

/// Whoever may open the memory may write to it: whatever stands there, an answer comes, and is one.
TEST(TracePlayer, AnswersWhateverStandsInTheRoom) {
  std::mt19937_64 random(any_seed());
  auto room = std::make_unique<shm::TraceRoom>();
  for (int round = 0; round < 200; ++round) {
    for (std::uint32_t i = 0; i < 64; ++i)
      shm::put_detour(*room, i, {std::int64_t(random() >> random() % 64), std::int64_t(random() >> random() % 64)});
    const auto length = std::int64_t(1000 + (random() >> (12 + random() % 40)));
    const shm::PlayedTrace order{0, 64, length, length / 2, std::int64_t(random() >> (4 + random() % 40))};
    TracePlayer player;
    if (!player.begin(*room, order, 0.3)) continue;
    for (int piece = 0; piece < 20; ++piece) {
      const auto begin = std::int64_t(random() >> random() % 64), end = std::int64_t(random() >> random() % 64);
      const std::int64_t idle = player.after(begin, end);
      ASSERT_GE(idle, 0);
      ASSERT_LE(idle, shm::kHoldCap);
    }
  }
}

}  // namespace
}  // namespace idlewave::client
