// What may be asked of ranks, and in which order they get it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "probe/agent/order_queue.h"
#include "probe/words/noise.h"
#include "tests/agent/parts.h"
#include "tests/any_seed.h"

namespace idlewave::agent {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using wire::Nanoseconds;
using wire::Rank;

shm::Delay delay(wire::CommandId id, wire::Step step = wire::kNoStep) { return {id, 1000, step}; }

/// What the rank takes when it begins `step`; 0: nothing.
wire::CommandId begin_step(shm::Slot& slot, OrderQueue& queue, wire::Step step) {
  queue.pump(slot);
  shm::Delay taken;
  if (shm::take_delay(slot, step, taken) != shm::DelayAnswer::kTaken) return 0;
  shm::finish_delay(slot);
  return taken.command;
}

std::string reason_of(Ranks& ranks, std::vector<Rank> addressed, decltype(wire::Command::order) order) {
  const auto outcome = ranks.order({1, std::move(addressed), order});
  if (!outcome) return "no answer";
  EXPECT_EQ(outcome->accepted, outcome->reason.empty());
  return outcome->reason;
}

const wire::DelayOrder kSomeDelay{milliseconds(250)};

TEST(OrderQueue, HandsOutDelaysInTheOrderOfTheirSteps) {
  shm::Slot slot;
  OrderQueue queue;
  queue.add(delay(1, 30));
  queue.pump(slot);
  queue.add(delay(2, 10));
  queue.add(delay(3));
  queue.add(delay(4, 10));
  EXPECT_EQ(begin_step(slot, queue, 5), 3u);
  EXPECT_EQ(begin_step(slot, queue, 6), 0u);
  EXPECT_EQ(begin_step(slot, queue, 10), 2u);
  EXPECT_EQ(begin_step(slot, queue, 11), 4u);
  EXPECT_EQ(begin_step(slot, queue, 29), 0u);
  EXPECT_EQ(begin_step(slot, queue, 30), 1u);
  EXPECT_EQ(begin_step(slot, queue, 31), 0u);
}

/// Of delays for random steps, said as such or counted from the step that the rank is in, as a list that is searched whole.
TEST(OrderQueue, CountsFromTheStepThatTheRankIsIn) {
  for (unsigned seed = any_seed(), end = seed + 50; seed != end; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto dice = [&random](int to) { return int(random() % unsigned(to)); };
    shm::Slot slot;
    OrderQueue queue;
    std::map<wire::Step, std::vector<wire::CommandId>> due;
    wire::CommandId id = 0;
    for (wire::Step step = dice(1000), last = step + 300; step < last; step += 1 + (dice(20) == 0)) {
      slot.step = step;
      const auto first = due.begin();
      const bool any = first != due.end() && first->first <= step;
      ASSERT_EQ(begin_step(slot, queue, step), any ? first->second.front() : 0u) << "step " << step;
      if (any) first->second.erase(first->second.begin());
      if (any && first->second.empty()) due.erase(first);
      for (int more = dice(4); more == 3; more = dice(4)) {
        const std::int32_t count = 1 + dice(30);
        const wire::Step at = step + count;
        queue.add(dice(2) == 0 ? delay(++id, at) : shm::delay_in_steps(slot, ++id, 1000, count));
        queue.pump(slot);
        due[at].push_back(id);
      }
    }
  }
}

TEST(OrderQueue, CountsWhereTheRankPassesIfItTellsNoSteps) {
  shm::Slot slot;
  OrderQueue queue;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(begin_step(slot, queue, wire::kNoStep), 0u);
  queue.add(shm::delay_in_steps(slot, 1, 1000, 4));
  queue.pump(slot);
  queue.add(shm::delay_in_steps(slot, 2, 1000, 2));
  queue.add(delay(3, 10));
  std::vector<wire::CommandId> taken;
  for (int i = 0; i < 6; ++i) taken.push_back(begin_step(slot, queue, wire::kNoStep));
  EXPECT_THAT(taken, testing::ElementsAre(0, 2, 0, 1, 0, 0)) << "and none for a step where there are none";
}

TEST(OrderQueue, BelievesNoStepThatCanNotBe) {
  shm::Slot slot;
  constexpr wire::Step kLast = std::numeric_limits<wire::Step>::max();
  slot.step = kLast - 1;
  EXPECT_EQ(shm::delay_in_steps(slot, 1, 1000, 5).at_step, kLast);
  slot.step = std::numeric_limits<wire::Step>::min();
  EXPECT_EQ(shm::delay_in_steps(slot, 1, 1000, 5).at_step, wire::kNoStep);
}

TEST(OrderQueue, LetsADelayThatHasBegunGoFirstButClearsItToo) {
  shm::Slot slot;
  OrderQueue queue;
  queue.add(delay(1, 10));
  queue.pump(slot);
  shm::Delay taken;
  ASSERT_EQ(shm::take_delay(slot, 10, taken), shm::DelayAnswer::kTaken);
  queue.add(delay(2, 5));
  queue.pump(slot);
  EXPECT_EQ(slot.delay.armed & shm::kStateBits, shm::kHeld);
  queue.clear(slot);
  EXPECT_TRUE(shm::is_revoked(slot));
  EXPECT_TRUE(shm::has_delay(slot)) << "until the rank has noticed";
  shm::finish_delay(slot);
  EXPECT_EQ(begin_step(slot, queue, 20), 0u);
}

TEST(Orders, ReachTheRanksTheyName) {
  Ranks ranks(3, 3);
  EXPECT_EQ(reason_of(ranks, {0, 2}, kSomeDelay), "");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, 1u);
  EXPECT_EQ(ranks.slot(1).delay.armed & shm::kStateBits, 0u);
  EXPECT_EQ(ranks.slot(2).delay.armed & shm::kStateBits, 1u);
}

TEST(Orders, ReachAllWhenTheyNameNone) {
  Ranks ranks(2, 2);
  EXPECT_EQ(reason_of(ranks, {}, kSomeDelay), "");
  EXPECT_EQ((ranks.slot(0).delay.armed & shm::kStateBits) + (ranks.slot(1).delay.armed & shm::kStateBits), 2u);
}

TEST(Orders, AreRefusedWholeWhenOneRankCantObey) {
  Ranks ranks(2, 2);
  ranks.end(1);
  EXPECT_EQ(reason_of(ranks, {0, 1}, kSomeDelay), "rank 1 has ended");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, 0u);
}

TEST(Orders, ForRanksThatTheProgramDoesNotHaveAreRefused) {
  Ranks ranks(2, 40);
  EXPECT_EQ(reason_of(ranks, {0, 40}, kSomeDelay), "rank 40: the program has ranks 0 to 39");
  EXPECT_EQ(reason_of(ranks, {-1}, kSomeDelay), "rank -1: the program has ranks 0 to 39");
}

TEST(Orders, ForRanksOfOtherNodesAreLeftToTheirAgents) {
  Ranks ranks(2, 40);
  EXPECT_EQ(reason_of(ranks, {7, 39}, kSomeDelay), "no answer");
  EXPECT_EQ(reason_of(ranks, {1, 39}, kSomeDelay), "");
  EXPECT_EQ(ranks.slot(1).delay.armed & shm::kStateBits, 1u);
}

TEST(Orders, BeforeAnyRankHasJoinedAreRefused) {
  Ranks ranks(0, 0);
  EXPECT_EQ(reason_of(ranks, {3}, kSomeDelay), "rank 3: no rank has joined yet");
  EXPECT_EQ(reason_of(ranks, {}, kSomeDelay), "no rank is running");
}

TEST(Orders, ThatOnlyANewerVersionKnowsAreRefusedAndChangeNothing) {
  Ranks ranks(2, 2);
  ASSERT_EQ(reason_of(ranks, {1}, kSomeDelay), "");
  const auto armed = ranks.slot(1).delay.armed.load();
  EXPECT_EQ(reason_of(ranks, {}, wire::UnknownOrder{"pause"}), "this order is not known to this version");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, 0u);
  EXPECT_EQ(ranks.slot(1).delay.armed.load(), armed);
  ranks.forbid_injection();
  EXPECT_EQ(reason_of(ranks, {0}, wire::UnknownOrder{"pause"}), "this order is not known to this version");
}

TEST(Orders, ThatEndTheNoiseOfOneWhoHasGoneLeaveOtherNoiseAndDelays) {
  Ranks ranks(3, 4);
  const wire::NoiseOrder noise{wire::NoiseKind::kExponential, milliseconds(1), 0, true};
  ASSERT_TRUE(ranks.order({7, {}, noise})->accepted);
  ASSERT_TRUE(ranks.order({8, {1}, noise})->accepted);
  ASSERT_TRUE(ranks.order({9, {}, kSomeDelay})->accepted);
  // Rank 3 is on no node of ours; who ended meanwhile keeps nobody in noise.
  const auto outcome = ranks.order({7 | wire::kEndsNoise, {}, wire::ClearOrder{7}});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->accepted) << outcome->reason;
  EXPECT_EQ(ranks.slot(0).noise.enabled, 0u);
  EXPECT_EQ(ranks.slot(1).noise.enabled, 1u);
  EXPECT_EQ(ranks.slot(1).noise.command, 8u);
  EXPECT_EQ(ranks.slot(2).noise.enabled, 0u);
  for (std::uint32_t slot = 0; slot < 3; ++slot)
    EXPECT_EQ(ranks.slot(slot).delay.armed & shm::kStateBits, 1u) << "slot " << slot;
}

TEST(Orders, OfAbsurdSizeAreRefused) {
  using std::chrono::hours;
  using wire::NoiseKind;
  Ranks ranks(1, 1);
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{ns(0)}), HasSubstr("held for 0 s"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{ns(-5)}), HasSubstr("more than 0 s"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{hours(2)}),
              HasSubstr("held for 2 h; accepted is more than 0 s and at most 1 h"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{milliseconds(1), -2}), HasSubstr("step -2"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kExponential, ns(0), 0}), HasSubstr("held for 0 s"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kPeriodic, milliseconds(1), 0}),
              HasSubstr("frequency"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kPeriodic, milliseconds(1), std::nan("")}),
              HasSubstr("frequency"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{NoiseKind::kPeriodic, milliseconds(3), 400}),
              HasSubstr("leaves no time to work"));
  EXPECT_EQ(ranks.slot(0).attention, 0u);
}

TEST(Orders, WithTheNumberOfTheProgramItselfAreRefused) {
  Ranks ranks(1, 1);
  const auto outcome = ranks.order({0, {0}, kSomeDelay});
  ASSERT_TRUE(outcome);
  EXPECT_THAT(outcome->reason, HasSubstr("command number 0"));
}

TEST(Orders, OtherThanClearAreRefusedWhereInjectionIsOff) {
  Ranks ranks(1, 1);
  ranks.forbid_injection();
  EXPECT_THAT(reason_of(ranks, {0}, kSomeDelay), HasSubstr("injection is off"));
  EXPECT_THAT(reason_of(ranks, {0}, wire::NoiseOrder{wire::NoiseKind::kExponential, milliseconds(1), 0}),
              HasSubstr("--allow-inject"));
  EXPECT_EQ(reason_of(ranks, {0}, wire::ClearOrder{}), "");
  EXPECT_EQ(ranks.slot(0).delay.armed & shm::kStateBits, shm::kIdle);
}

TEST(Orders, AddUpToACapForEachRank) {
  using std::chrono::minutes;
  Ranks ranks(2, 2);
  EXPECT_EQ(reason_of(ranks, {0}, wire::DelayOrder{minutes(30)}), "");
  EXPECT_EQ(reason_of(ranks, {0}, wire::DelayOrder{minutes(29)}), "");
  EXPECT_THAT(reason_of(ranks, {}, wire::DelayOrder{minutes(2)}), HasSubstr("rank 0 may be held for 60 s more"));
  EXPECT_EQ(reason_of(ranks, {1}, wire::DelayOrder{minutes(60)}), "") << "each rank has its own";
  EXPECT_THAT(reason_of(ranks, {1}, wire::NoiseOrder{wire::NoiseKind::kExponential, milliseconds(1), 0}),
              HasSubstr("rank 1 may be held for 0 s more"));
}

TEST(Orders, CountWhatARankSaysItWasHeld) {
  using std::chrono::minutes;
  Ranks ranks(1, 1);
  ranks.slot().held_ns = Nanoseconds(minutes(50)).count();
  EXPECT_THAT(reason_of(ranks, {0}, wire::DelayOrder{minutes(11)}), HasSubstr("600 s more"));
  for (const std::int64_t nonsense : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::min()}) {
    ranks.slot().held_ns = nonsense;
    EXPECT_EQ(ranks.resident().held(), ns(0));
  }
  ranks.slot().held_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ranks.resident().may_be_held(), ns(0));
}

TEST(Orders, AreNotStoredWithoutEnd) {
  Ranks ranks(1, 1);
  std::string reason;
  for (int i = 0; i < 2000 && reason.empty(); ++i) reason = reason_of(ranks, {0}, wire::DelayOrder{ns(1)});
  EXPECT_THAT(reason, HasSubstr("delays waiting already"));
}

std::vector<wire::Detour> detours_of(std::size_t count, Nanoseconds duration = milliseconds(1)) {
  std::vector<wire::Detour> detours;
  for (std::size_t i = 0; i < count; ++i) detours.push_back({std::int64_t(i) * milliseconds(10), duration});
  detours.back().duration = duration;
  return detours;
}

wire::NoiseOrder trace(std::vector<wire::Detour> detours) {
  return words::order_of_trace("a/noise.txt", std::move(detours));
}

/// What the rank of that slot plays, if it is told to play anything.
std::vector<wire::Detour> played(Ranks& ranks, std::uint32_t slot) {
  std::uint32_t generation = 0;
  shm::Noise noise;
  std::vector<wire::Detour> out;
  if (!shm::read_noise(ranks.slot(slot), generation, noise) || !noise.enabled) return out;
  EXPECT_EQ(noise.kind, std::uint32_t(wire::NoiseKind::kTrace));
  EXPECT_EQ(noise.trace.began_ns, 1) << "when the order was given";
  Nanoseconds busy{};
  for (std::uint32_t i = 0; i < noise.trace.count; ++i) {
    const auto detour = shm::detour_at(ranks.room(), noise.trace.first + i);
    out.push_back({ns(detour.start_ns), ns(detour.duration_ns)});
    busy += out.back().duration;
  }
  EXPECT_EQ(noise.trace.busy_ns, busy.count());
  EXPECT_EQ(noise.trace.length_ns, (out.back().start + out.back().duration).count());
  return out;
}

TEST(Traces, LieInTheRoomOfTheNodeOnceForAllWhoPlayThem) {
  Ranks ranks(3, 3);
  const std::uint32_t room = ranks.traces().free();
  EXPECT_EQ(reason_of(ranks, {}, trace(detours_of(1000))), "");
  EXPECT_EQ(ranks.traces().free(), room - 1000);
  for (const std::uint32_t slot : {0, 1, 2}) EXPECT_EQ(played(ranks, slot), detours_of(1000));
}

TEST(Traces, OfSeveralOrdersStandBesideEachOther) {
  Ranks ranks(4, 4);
  const auto a = detours_of(700, milliseconds(1)), b = detours_of(300, milliseconds(2)),
             c = detours_of(500, milliseconds(3));
  EXPECT_EQ(reason_of(ranks, {}, trace(a)), "");
  EXPECT_EQ(reason_of(ranks, {1, 2}, trace(b)), "");
  EXPECT_EQ(reason_of(ranks, {2}, trace(c)), "");
  EXPECT_EQ(played(ranks, 0), a);
  EXPECT_EQ(played(ranks, 1), b);
  EXPECT_EQ(played(ranks, 2), c);
  EXPECT_EQ(reason_of(ranks, {2, 3}, wire::NoiseOrder{wire::NoiseKind::kExponential, milliseconds(1)}), "");
  EXPECT_EQ(played(ranks, 0), a) << "what others are ordered changes nothing";
  EXPECT_EQ(reason_of(ranks, {0}, wire::ClearOrder{}), "");
  EXPECT_THAT(played(ranks, 0), testing::IsEmpty());
  EXPECT_EQ(ranks.traces().free(), shm::kTraceRoom - 1000) << "of the three b alone is played, and lies where it lay";
}

TEST(Traces, AreFollowedByAnyOtherWhereAllPlayThem) {
  Ranks ranks(2, 2);
  std::mt19937 random(any_seed());
  for (int i = 0; i < 100; ++i) {
    const auto detours = detours_of(i % 3 == 0 ? wire::kMaxDetours : 2 + random() % (wire::kMaxDetours - 1));
    ASSERT_EQ(reason_of(ranks, {}, trace(detours)), "");
    ASSERT_EQ(played(ranks, 1), detours);
  }
  ranks.resident(0).let_go();
  ranks.resident(1).let_go();
  EXPECT_EQ(ranks.traces().free(), shm::kTraceRoom);
}

TEST(Traces, ThatFindNoRoomAreRefusedAndTheOthersGoOn) {
  Ranks ranks(5, 5);
  for (const Rank rank : {0, 1, 2}) EXPECT_EQ(reason_of(ranks, {rank}, trace(detours_of(wire::kMaxDetours))), "");
  EXPECT_EQ(
      reason_of(ranks, {3}, trace(detours_of(2))),
      "the traces that ranks of this node play already leave room for 0 detours, and this one has 2; end noise first "
      "(inject --clear)");
  EXPECT_THAT(played(ranks, 3), testing::IsEmpty());
  EXPECT_EQ(played(ranks, 2).size(), wire::kMaxDetours);
  ranks.end(1);
  EXPECT_EQ(reason_of(ranks, {3}, trace(detours_of(2))), "") << "rank 1 has gone";
}

TEST(Traces, EndWithWhoGaveThem) {
  Ranks ranks(2, 2);
  EXPECT_EQ(reason_of(ranks, {}, trace(detours_of(5))), "");  // number 1
  EXPECT_TRUE(ranks.order({1 | wire::kEndsNoise, {}, wire::ClearOrder{1}})->accepted);
  EXPECT_THAT(played(ranks, 0), testing::IsEmpty());
  EXPECT_EQ(ranks.traces().free(), shm::kTraceRoom);
}

TEST(Traces, AreAnsweredWithoutTheirDetours) {
  Ranks ranks(1, 1);
  const auto outcome = ranks.order({7, {}, trace(detours_of(5))});
  const auto& told = std::get<wire::NoiseOrder>(outcome->command.order).trace;
  EXPECT_EQ(told, (wire::OrderedTrace{"noise.txt", 5, milliseconds(41), milliseconds(5), {}}));
}

TEST(Traces, ThatAreNoneAreRefused) {
  Ranks ranks(1, 1);
  const auto refusal = [&](auto change) {
    wire::NoiseOrder order = trace(detours_of(5));
    change(order);
    const std::string reason = reason_of(ranks, {0}, order);
    EXPECT_THAT(played(ranks, 0), testing::IsEmpty()) << reason;
    return reason;
  };
  const auto with = [](std::vector<wire::Detour> detours) {
    return [detours](wire::NoiseOrder& order) { order = trace(detours); };
  };
  EXPECT_THAT(refusal([](auto& order) { order.trace.detours.clear(); }), HasSubstr("did not come along"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.detours.pop_back(); }), HasSubstr("not what the order says"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.busy *= 2; }), HasSubstr("not what the order says"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.file = "/etc/passwd"; }), HasSubstr("not what the order says"));
  EXPECT_THAT(refusal([](auto& order) { order.amount = ns(1); }), HasSubstr("not what the order says"));
  EXPECT_THAT(refusal([](auto& order) { std::swap(order.trace.detours[0], order.trace.detours[1]); }),
              HasSubstr("in the order of their time"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.detours[0].start = ns(-1); }),
              HasSubstr("in the order of their time"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.detours[0].duration = ns(-1); }), HasSubstr("held for"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.detours[0].duration = Nanoseconds::max(); }),
              HasSubstr("held for"));
  EXPECT_THAT(refusal([](auto& order) { order.trace.detours.back().start = Nanoseconds::max(); }),
              HasSubstr("at most 720 h"));
  EXPECT_THAT(refusal([](auto& order) { order.trace = {}; }), HasSubstr("holds no detour"));
  EXPECT_THAT(refusal(with(detours_of(wire::kMaxDetours + 1))),
              HasSubstr("16385 lines; an order carries at most 16384"));
  EXPECT_THAT(refusal(with(detours_of(5, ns(0)))), HasSubstr("held for 0 s"));
  EXPECT_THAT(refusal(with({{ns(0), ns(1'000'000)}, {ns(1'000'999), ns(0)}})), HasSubstr("leaves no time to work"));
}

}  // namespace
}  // namespace idlewave::agent
