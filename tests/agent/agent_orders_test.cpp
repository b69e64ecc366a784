// An operator's orders on their way through the real agent to a real rank and back.

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/agent/stage.h"
#include "tests/any_seed.h"

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
  const Nanoseconds cleared = monitor.outcomes()[1].time;
  const std::size_t enough = monitor.lane(0).size() + 100;
  ASSERT_TRUE(monitor.until([&] { return monitor.lane(0).size() >= enough; }));
  // At most the one interruption that had begun.
  const auto& lane = monitor.lane(0);
  EXPECT_LE(std::count_if(lane.begin(), lane.end(),
                          [&](const Event& e) { return e.kind == EventKind::kDelayBegin && e.time > cleared; }),
            1);
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
