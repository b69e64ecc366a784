// An operator's orders on their way through the real agent to a real rank and back.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "probe/client/gate_keeper.h"
#include "probe/words/noise.h"
#include "tests/agent/stage.h"
#include "tests/any_seed.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::test {
namespace {

wire::Command order(wire::CommandId id, std::vector<Rank> ranks, decltype(wire::Command::order) order) {
  return {id, std::move(ranks), order};
}

/// A rank that goes from step to step, and that its agent may hold.
class OrderedRank : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  }
  void hold_for_an_hour() {
    monitor.command(order(1, {0}, wire::DelayOrder{std::chrono::hours(1)}));
    ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayBegin) == 1; }));
  }
  /// But for the one interruption that had begun.
  void expect_no_noise_after(Nanoseconds cleared) {
    const std::size_t enough = monitor.lane(0).size() + 100;
    ASSERT_TRUE(monitor.until([&] { return monitor.lane(0).size() >= enough; }));
    const auto& lane = monitor.lane(0);
    EXPECT_LE(std::count_if(lane.begin(), lane.end(),
                            [&](const Event& e) { return e.kind == EventKind::kDelayBegin && e.time > cleared; }),
              1);
  }

  const SessionRoot root;
  AgentProcess agent{{"--allow-inject"}};
  Monitor monitor;
  PlayedRank rank{"step", 0, 1};
};

TEST_F(OrderedRank, ObeysADelayAndTheRankTellsIt) {
  monitor.command(order(7, {0}, wire::DelayOrder{std::chrono::milliseconds(30)}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == 1; }));
  ASSERT_EQ(monitor.outcomes().size(), 1u);
  EXPECT_TRUE(monitor.outcomes()[0].accepted);
  EXPECT_EQ(monitor.outcomes()[0].command.id, 7u);
  const auto& lane = monitor.lane(0);
  const auto begin =
      std::find_if(lane.begin(), lane.end(), [](const Event& e) { return e.kind == EventKind::kDelayBegin; });
  const auto end =
      std::find_if(lane.begin(), lane.end(), [](const Event& e) { return e.kind == EventKind::kDelayEnd; });
  EXPECT_EQ(begin->value, 7u);
  EXPECT_GE(end->time - begin->time, std::chrono::milliseconds(30));
}

TEST_F(OrderedRank, ObeysADelayInTheSoManyThStepFromTheOrder) {
  std::mt19937 random(any_seed());
  for (wire::CommandId id = 1; id <= 5; ++id) {
    const auto count = std::int32_t(random() % 40 + 1);
    monitor.command(order(id, {0}, wire::DelayOrder{std::chrono::milliseconds(1), wire::kNoStep, count}));
    ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == id; }));
    const auto& lane = monitor.lane(0);
    const auto held = std::find_if(lane.begin(), lane.end(), [&](const Event& event) {
      return event.kind == EventKind::kDelayBegin && event.value == id;
    });
    ASSERT_NE(held, lane.end());
    const wire::Nanoseconds ordered = monitor.outcomes().back().time;
    const auto steps = std::count_if(
        lane.begin(), held, [&](const Event& event) { return event.kind == EventKind::kStep && event.time > ordered; });
    // The rank may begin a step between the two moments at which its agent looks at the clock and at the rank.
    EXPECT_GE(steps, count);
    EXPECT_LE(steps, count + 1);
  }
}

TEST_F(OrderedRank, KeepsDelaysInStoreWhileOneIsObeyed) {
  for (const wire::CommandId id : {1, 2, 3})
    monitor.command(order(id, {}, wire::DelayOrder{std::chrono::milliseconds(50)}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == 3; }));
  std::vector<std::uint64_t> ids;
  for (const Event& event : monitor.lane(0)) {
    if (event.kind == EventKind::kDelayBegin) ids.push_back(event.value);
  }
  EXPECT_THAT(ids, testing::ElementsAre(1, 2, 3));
}

TEST_F(OrderedRank, TakesBackADelayThatHasNotBegun) {
  monitor.command(order(1, {0}, wire::DelayOrder{std::chrono::hours(1), 1'000'000'000}));
  monitor.command(order(2, {0}, wire::ClearOrder{}));
  monitor.command(order(3, {0}, wire::DelayOrder{std::chrono::milliseconds(1)}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == 1; }));
  ASSERT_EQ(monitor.outcomes().size(), 3u);
  for (const wire::Outcome& outcome : monitor.outcomes()) EXPECT_TRUE(outcome.accepted) << outcome.reason;
}

TEST_F(OrderedRank, LetsGoOfARankThatIsHeldForAnHourWhenToldToClear) {
  monitor.command(order(1, {0}, wire::DelayOrder{std::chrono::hours(1)}));
  monitor.command(order(2, {0}, wire::DelayOrder{std::chrono::milliseconds(1), 1'000'000'000}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayBegin) == 1; }));
  monitor.command(order(3, {0}, wire::ClearOrder{}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == 1; }));
  const std::size_t steps = monitor.count(0, EventKind::kStep);
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStep) > steps + 10; }));
}

TEST_F(OrderedRank, LetsGoOfARankThatIsHeldByNoiseWhenToldToClear) {
  monitor.command(order(1, {0}, wire::NoiseOrder{wire::NoiseKind::kExponential, std::chrono::minutes(50)}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayBegin) == 1; }));
  monitor.command(order(2, {0}, wire::ClearOrder{}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == 1; }));
}

TEST_F(OrderedRank, LetsGoOfAHeldRankWhenItIsKilled) {
  hold_for_an_hour();
  agent.kill(SIGKILL);
  rank.leave();
}

TEST_F(OrderedRank, LetsGoOfAHeldRankWhenItIsStoppedAndTellsThatWhenItGoesOn) {
  hold_for_an_hour();
  agent.kill(SIGSTOP);
  rank.leave();
  agent.kill(SIGCONT);
  EXPECT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) == 1; }));
}

TEST_F(OrderedRank, LetsGoOfAHeldRankAndTellsItWhenTheSessionEnds) {
  hold_for_an_hour();
  agent.kill(SIGTERM);
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(monitor.count(0, EventKind::kDelayEnd), 1u);
  rank.leave();
}

TEST_F(OrderedRank, RefusesToHoldARankForMoreThanAnHourInAll) {
  const auto outcome_of = [&](wire::Command command) {
    const std::size_t before = monitor.outcomes().size();
    monitor.command(command);
    EXPECT_TRUE(monitor.until([&] { return monitor.outcomes().size() > before; }));
    return monitor.outcomes().back();
  };
  const auto never = [](auto duration) { return wire::DelayOrder{duration, 1'000'000'000}; };
  EXPECT_TRUE(outcome_of(order(1, {0}, never(std::chrono::minutes(40)))).accepted);
  EXPECT_THAT(outcome_of(order(2, {0}, never(std::chrono::minutes(30)))).reason,
              testing::HasSubstr("rank 0 may be held for 1200 s more in this session"));
  EXPECT_TRUE(outcome_of(order(3, {0}, wire::ClearOrder{})).accepted);
  EXPECT_TRUE(outcome_of(order(4, {0}, never(std::chrono::minutes(30)))).accepted) << "what was cleared held nobody";
}

TEST(Agent, TakesNoDelayNorNoiseUnlessItWasAllowed) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("step", 0, 1);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  monitor.command(order(1, {0}, wire::DelayOrder{std::chrono::hours(1)}));
  monitor.command(order(2, {0}, wire::NoiseOrder{wire::NoiseKind::kExponential, std::chrono::milliseconds(1)}));
  monitor.command(order(3, {0}, wire::ClearOrder{}));
  ASSERT_TRUE(monitor.until([&] { return monitor.outcomes().size() == 3; }));
  for (const int i : {0, 1}) {
    EXPECT_FALSE(monitor.outcomes()[i].accepted);
    EXPECT_EQ(monitor.outcomes()[i].reason, "injection is off in this session; start it with --allow-inject");
  }
  EXPECT_TRUE(monitor.outcomes()[2].accepted);
  const std::size_t steps = monitor.count(0, EventKind::kStep);
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStep) > steps + 10; }));
  EXPECT_EQ(monitor.count(0, EventKind::kDelayBegin), 0u);
}

TEST_F(OrderedRank, MakesNoiseUntilItIsCleared) {
  monitor.command(order(1, {}, wire::NoiseOrder{wire::NoiseKind::kExponential, std::chrono::microseconds(300)}));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) >= 20; }));
  monitor.command(order(2, {}, wire::ClearOrder{}));
  ASSERT_TRUE(monitor.until([&] { return monitor.outcomes().size() == 2; }));
  expect_no_noise_after(monitor.outcomes()[1].time);
}

/// Detours that take a third of the time, within some of the rank's steps of a millisecond.
std::vector<wire::Detour> some_detours(std::mt19937_64& random) {
  std::vector<wire::Detour> detours;
  Nanoseconds start{}, busy{};
  for (auto i = 5 + random() % 30; i > 0; --i) {
    detours.push_back({start += Nanoseconds(random() % 1'500'000), Nanoseconds(random() % 500'000)});
    busy += detours.back().duration;
  }
  detours.push_back({std::max(start + std::chrono::milliseconds(1), 2 * busy), Nanoseconds(0)});
  return detours;
}

/// What the rank tells on its way through shared memory, agent and wire, against the simulator's noise of the same trace: before
/// each step it is held if the simulator held it up in the step before, and for as long at least. Half a nanosecond keeps
/// roundings away from where a detour counts or not.
TEST_F(OrderedRank, PlaysATraceAsTheSimulatorDoes) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (wire::CommandId id = 1; id <= 3; ++id) {
    const std::vector<wire::Detour> detours = some_detours(random);
    const std::size_t before = monitor.lane(0).size();
    monitor.command(order(id, {}, words::order_of_trace("noise.txt", detours)));
    ASSERT_TRUE(monitor.until([&] { return monitor.lane(0).size() > before + 1500; }));
    const std::vector<Event> lane(monitor.lane(0).begin() + std::ptrdiff_t(before), monitor.lane(0).end());
    ASSERT_EQ(monitor.outcomes().size(), id);
    ASSERT_TRUE(monitor.outcomes().back().accepted) << monitor.outcomes().back().reason;
    const Nanoseconds began = monitor.outcomes().back().time, length = detours.back().start;
    const double offset = client::Random(client::Random(std::uint64_t{id} << 32).next()).unit();
    const sim::noise::Phases phases(seed, support::NoisePhase::kOwn);
    const sim::noise::TraceInterruptions simulated(detours, phases);
    const double behind =
        (1 - phases.of(0)) * double(length.count()) + double(std::int64_t(offset * double(length.count()))) - 0.5;
    const auto seconds = [&](Nanoseconds time) { return (double((time - began).count()) + behind) * 1e-9; };
    const auto is_hold = [&](const Event& event) { return event.kind == EventKind::kDelayBegin && event.value == id; };
    // The order may have come to the rank somewhat later than it was given: what was due first is not known.
    auto event = std::find_if(lane.begin(), lane.end(), is_hold);
    double due = -1;
    std::size_t held = 0, steps = 0;
    for (; event != lane.end() && event + 1 != lane.end(); ++event) {
      if (event->phase == Phase::kCompute)
        due = std::max(due, 0.0) + simulated.after(0, 0, seconds(event->time), seconds(event[1].time)) * 1e9;
      if (event->kind == EventKind::kStep && due >= 0) {
        ASSERT_EQ(is_hold(event[1]), due > 0.4) << "step " << event->value << ": " << due << " ns are due";
        if (due <= 0.4) due = 0;
        ++steps;
      }
      if (is_hold(*event) && due >= 0) {
        EXPECT_GE(double((event[1].time - event->time).count()), due - 0.5);
        due = 0;
        ++held;
      }
    }
    EXPECT_GT(held, 0u);
    EXPECT_GT(steps, held);
  }
}

TEST_F(OrderedRank, MakesTheNoiseOfATraceUntilItIsCleared) {
  const std::vector<wire::Detour> detours{{Nanoseconds(0), std::chrono::microseconds(50)},
                                          {std::chrono::microseconds(200), Nanoseconds(0)}};
  monitor.command(order(1, {}, words::order_of_trace("noise.txt", detours)));
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayEnd) >= 20; }));
  monitor.command(order(2, {}, wire::ClearOrder{}));
  ASSERT_TRUE(monitor.until([&] { return monitor.outcomes().size() == 2; }));
  const wire::NoiseOrder& told = std::get<wire::NoiseOrder>(monitor.outcomes()[0].command.order);
  EXPECT_EQ(words::to_words(told), "trace:noise.txt (2 detours, 25 % of 200 us)");
  EXPECT_TRUE(told.trace.detours.empty()) << "they are for the rank";
  expect_no_noise_after(monitor.outcomes()[1].time);
}

TEST(Agent, RefusesAnOrderForARankThatHasEnded) {
  const SessionRoot root;
  AgentProcess agent({"--allow-inject"});
  Monitor monitor;
  PlayedRank stays("stay", 0, 2);
  PlayedRank ends("stay", 1, 2);
  ends.leave();
  ASSERT_TRUE(monitor.until([&] { return monitor.count(1, EventKind::kStop) == 1; }));
  ASSERT_TRUE(monitor.until([&, frames = monitor.frames()] { return monitor.frames() > frames + 1; }));
  monitor.command(order(1, {0, 1}, wire::DelayOrder{std::chrono::milliseconds(1)}));
  ASSERT_TRUE(monitor.until([&] { return monitor.outcomes().size() == 1; }));
  EXPECT_FALSE(monitor.outcomes()[0].accepted);
  EXPECT_EQ(monitor.outcomes()[0].reason, "rank 1 has ended");
}

}  // namespace
}  // namespace idlewave::test
