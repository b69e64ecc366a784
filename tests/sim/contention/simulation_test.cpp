// Operators inject while a scenario runs.

#include "workloads/sim/contention/simulation.h"

#include <gmock/gmock.h>

#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/run.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;

struct Phases final : sim::Recorder {
  void step_begins(Rank rank, Step step, double) override { step_of[rank] = step; }
  void enters(Rank rank, Step step, wire::Phase phase, double) override { entered.insert({rank, step, phase}); }
  bool has(Rank rank, Step step, wire::Phase phase) const { return entered.contains({rank, step, phase}); }
  std::map<Rank, Step> step_of;
  std::set<std::tuple<Rank, Step, wire::Phase>> entered;
};

TEST(OrderedDelay, IsTheOneOfAScenario) {
  const double expected = sim::run(reference_scenario(), {})->makespan;
  Scenario scenario = reference_scenario();
  scenario.delays.clear();
  Phases phases;
  auto simulation = sim::Simulation::create(scenario, phases);
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
  auto simulation = sim::Simulation::create(reference_scenario(), phases);
  simulation->advance_until(0.045);
  EXPECT_FALSE(simulation->order_delay(5, 4, 1s));
  EXPECT_FALSE(simulation->order_delay(5, 200, 1s));
  EXPECT_FALSE(simulation->order_delay(40, 50, 1s));
  simulation->advance_until(1e9);
  EXPECT_FALSE(simulation->order_delay(5, std::nullopt, 1s));
}

TEST(OrderedNoise, BeginsAndEndsWithAStep) {
  Scenario scenario = reference_scenario();
  scenario.delays.clear();
  Phases phases;
  auto simulation = sim::Simulation::create(scenario, phases);
  struct Always final : sim::PhaseNoise {
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

TEST(LiveSimulation, SaysWhenTheNextThingHappens) {
  Phases phases;
  auto simulation = sim::Simulation::create(reference_scenario(), phases);
  simulation->advance_until(0);
  EXPECT_DOUBLE_EQ(simulation->next_event(), 0.01);
  EXPECT_FALSE(simulation->finished());
  simulation->advance_until(simulation->next_event());
  EXPECT_DOUBLE_EQ(simulation->time(), 0.01);
}

}  // namespace
}  // namespace idlewave::tests
