// Both engines against the slow, obvious simulation, and against themselves.

#include <gmock/gmock.h>

#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/run.h"
#include "workloads/sim/contention/simulation.h"

namespace idlewave::tests {
namespace {

unsigned any_seed() {
  const unsigned seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  return seed;
}

struct Log final : sim::Recorder {
  void step_begins(Rank rank, Step step, double time) override { starts[{rank, step}] = time; }
  void enters(Rank rank, Step step, wire::Phase phase, double time) override {
    entries.emplace_back(rank, step, phase, time);
  }
  std::map<std::pair<Rank, Step>, double> starts;
  std::vector<std::tuple<Rank, Step, wire::Phase, double>> entries;
};

TEST(RandomScenario, RunsAsTheSlowSimulationSays) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 3000; ++number) {
    const Scenario scenario = scenarios.next();
    const HashedNoise noise(scenarios.real(0, 0.02));
    const sim::PhaseNoise* const some = scenarios.one_in(3) ? &noise : nullptr;
    const ExactRun exact = simulate(exact_program(scenario, some));
    const Step step = scenario.program.steps - 1;
    const auto run = sim::run(scenario, {.noise = some, .starts_of = step});
    ASSERT_TRUE(run) << run.error().message;
    ASSERT_NEAR(run->makespan, exact.makespan, 1e-9 * exact.makespan) << "seed " << seed << ", scenario " << number;
    for (Rank rank = 0; rank < scenario.machine.ranks; ++rank) {
      const auto i = static_cast<std::size_t>(rank);
      ASSERT_NEAR(run->starts[i], exact.step_start[i][static_cast<std::size_t>(step)], 1e-9 * exact.makespan)
          << "seed " << seed << ", scenario " << number << ", rank " << rank;
    }
  }
}

TEST(RandomScenario, RunsInSlicesAsInOneGo) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 300; ++number) {
    const Scenario scenario = scenarios.next();
    const auto noise = std::make_shared<HashedNoise>(scenarios.real(0, 0.02));
    Log whole, sliced;
    auto one = sim::Simulation::create(scenario, whole, noise);
    auto many = sim::Simulation::create(scenario, sliced, noise);
    ASSERT_TRUE(one && many);
    one->advance_until(1e9);
    for (double time = 0; !many->finished(); time += scenarios.real(0, 0.05)) many->advance_until(time);
    ASSERT_TRUE(one->finished());
    ASSERT_EQ(whole.entries, sliced.entries) << "seed " << seed << ", scenario " << number;
  }
}

TEST(RandomScenario, IsTheSameFromBothEnginesWhenCoreBound) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 300; ++number) {
    Scenario scenario = scenarios.next();
    scenario.program.kernel = support::Kernel::kCore;
    const HashedNoise noise(scenarios.real(0, 0.02));
    Log swept, simulated;
    const auto run = sim::run(scenario, {.noise = &noise, .recorder = &swept});
    auto simulation = sim::Simulation::create(scenario, simulated, std::make_shared<HashedNoise>(noise));
    ASSERT_TRUE(run && simulation);
    simulation->advance_until(1e9);
    ASSERT_EQ(swept.starts.size(), simulated.starts.size());
    for (const auto& [where, time] : swept.starts) {
      ASSERT_NEAR(simulated.starts.at(where), time, 1e-9 * run->makespan) << "seed " << seed << ", scenario " << number;
    }
  }
}

}  // namespace
}  // namespace idlewave::tests
