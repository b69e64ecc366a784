// Operators inject while a scenario runs.

#include "workloads/sim/contention/simulation.h"

#include <gmock/gmock.h>

#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/contention_run.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;

struct Phases final : sim::core::Recorder {
  void step_begins(Rank rank, Step step, double) override { step_of[rank] = step; }
  void enters(Rank rank, Step step, wire::Phase phase, double) override { entered.insert({rank, step, phase}); }
  void held_by(Rank rank, wire::CommandId command) override { commands[rank].push_back(command); }
  bool has(Rank rank, Step step, wire::Phase phase) const { return entered.contains({rank, step, phase}); }
  std::map<Rank, Step> step_of;
  std::map<Rank, std::vector<wire::CommandId>> commands;
  std::set<std::tuple<Rank, Step, wire::Phase>> entered;
};

TEST(OrderedDelay, IsTheOneOfAScenario) {
  const double expected = sim::contention::run(reference_scenario(), {})->makespan;
  Scenario scenario = reference_scenario();
  scenario.delays.clear();
  Phases phases;
  auto simulation = sim::contention::Simulation::create(scenario, phases);
  simulation->advance_until(0.045);  // in step 4
  const auto step = simulation->order_delay(5, std::nullopt, 1200ms);
  ASSERT_TRUE(step);
  EXPECT_EQ(*step, 5);
  simulation->advance_until(1e9);
  EXPECT_TRUE(phases.has(5, 5, wire::Phase::kDelay));
  EXPECT_DOUBLE_EQ(simulation->time(), expected);
}

TEST(OrderedDelay, IsRefusedForWhatHasBegun) {
  Phases phases;
  auto simulation = sim::contention::Simulation::create(reference_scenario(), phases);
  simulation->advance_until(0.045);
  EXPECT_FALSE(simulation->order_delay(5, 4, 1s));
  EXPECT_FALSE(simulation->order_delay(5, 200, 1s));
  EXPECT_FALSE(simulation->order_delay(40, 50, 1s));
  simulation->advance_until(1e9);
  EXPECT_FALSE(simulation->order_delay(5, std::nullopt, 1s));
}

TEST(OrderedDelay, ComesOnTopOfWhatHoldsTheRankThere) {
  Scenario scenario = reference_scenario();
  const double expected = sim::contention::run(scenario, {})->makespan;
  scenario.delays.front().duration = 200ms;
  Phases phases;
  auto simulation = sim::contention::Simulation::create(scenario, phases);
  ASSERT_TRUE(simulation->order_delay(5, 5, 400ms, 1));
  ASSERT_TRUE(simulation->order_delay(5, 5, 600ms, 2));
  simulation->advance_until(1e9);
  EXPECT_NEAR(simulation->time(), expected, 1e-9);
  EXPECT_THAT(phases.commands[5], testing::ElementsAre(1u, 2u));
}

TEST(OrderedDelay, CanBeTakenBackUntilItBegins) {
  Scenario scenario = reference_scenario();
  const double expected = sim::contention::run(scenario, {})->makespan;
  Phases phases;
  auto simulation = sim::contention::Simulation::create(scenario, phases);
  ASSERT_TRUE(simulation->order_delay(5, 5, 1s, 1));
  ASSERT_TRUE(simulation->order_delay(5, 50, 1s, 2));
  ASSERT_TRUE(simulation->order_delay(6, 50, 1s, 3));
  EXPECT_EQ(simulation->take_back_delays(5), 2u);
  EXPECT_EQ(simulation->take_back_delays(5), 0u);
  EXPECT_EQ(simulation->take_back_delays(6), 1u);
  simulation->advance_until(1e9);
  EXPECT_DOUBLE_EQ(simulation->time(), expected) << "the scenario's own delay stays";
  EXPECT_TRUE(phases.commands.empty());
}

TEST(OrderedDelay, ThatHasBegunEndsWhenItIsTakenBack) {
  Scenario scenario = reference_scenario();
  scenario.delays.clear();
  Phases phases;
  auto simulation = sim::contention::Simulation::create(scenario, phases);
  ASSERT_TRUE(simulation->order_delay(5, 5, 3s, 1));
  ASSERT_TRUE(simulation->order_delay(5, 5, 3s, 2));
  simulation->advance_until(0.05 + 1.2);  // It begins with step 5.
  EXPECT_EQ(simulation->take_back_delays(5), 2u);
  EXPECT_EQ(simulation->take_back_delays(5), 0u);
  simulation->advance_until(1e9);
  EXPECT_THAT(phases.commands[5], testing::ElementsAre(1u));
  EXPECT_NEAR(simulation->time(), sim::contention::run(reference_scenario(), {})->makespan, 1e-12);
}

TEST(OrderedDelay, OfTheProgramItselfGoesOnWhenAllAreTakenBack) {
  Phases phases;
  auto simulation = sim::contention::Simulation::create(reference_scenario(), phases);
  simulation->advance_until(0.5);
  EXPECT_EQ(simulation->take_back_delays(5), 0u);
  simulation->advance_until(1e9);
  EXPECT_DOUBLE_EQ(simulation->time(), sim::contention::run(reference_scenario(), {})->makespan);
}

TEST(OrderedDelay, HoldsARankForAnHourInAllAtMost) {
  Phases phases;
  auto simulation = sim::contention::Simulation::create(reference_scenario(), phases);
  ASSERT_TRUE(simulation->order_delay(7, 50, 50min, 1));
  ASSERT_TRUE(simulation->order_delay(7, 60, 50min, 2));
  EXPECT_EQ(simulation->ordered_holds(7).waiting, 6000);
  EXPECT_EQ(simulation->ordered_holds(7).delays, 2u);
  simulation->advance_until(1e9);
  EXPECT_DOUBLE_EQ(simulation->ordered_holds(7).begun, 3600);
  EXPECT_EQ(simulation->ordered_holds(7).waiting, 0);
  EXPECT_NEAR(simulation->time(), 3600 + 2, 2);
}

TEST(OrderedNoise, BeginsAndEndsWithAStep) {
  Scenario scenario = reference_scenario();
  scenario.delays.clear();
  Phases phases;
  auto simulation = sim::contention::Simulation::create(scenario, phases);
  struct Always final : sim::core::PhaseNoise {
    double after(Rank, Step, double, double) const override { return 1e-4; }
  };
  simulation->advance_until(0.045);
  const Step first = phases.step_of[7];
  simulation->set_noise(std::make_shared<Always>());
  simulation->advance_until(0.095);
  const Step last = phases.step_of[7];
  simulation->set_noise(nullptr);
  simulation->advance_until(1e9);
  ASSERT_LT(first + 1, last);
  for (Step step = 0; step < 200; ++step) {
    EXPECT_EQ(phases.has(7, step, wire::Phase::kNoise), step > first && step <= last) << step;
  }
}

TEST(LiveSimulation, IsAtTheTimeOfTheLastThingThatHappened) {
  Phases phases;
  auto simulation = sim::contention::Simulation::create(reference_scenario(), phases);
  simulation->advance_until(0.015);
  EXPECT_DOUBLE_EQ(simulation->time(), 0.01);
  EXPECT_FALSE(simulation->finished());
}

}  // namespace
}  // namespace idlewave::tests
