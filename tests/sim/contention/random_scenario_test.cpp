// Both engines against the slow, obvious simulation, and against themselves.

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tests/any_seed.h"
#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/contention_run.h"
#include "workloads/sim/contention/simulation.h"

namespace idlewave::tests {
namespace {

struct Log final : sim::core::Recorder {
  void step_begins(Rank rank, Step step, double time) override { starts[{rank, step}] = time; }
  void enters(Rank rank, Step step, wire::Phase phase, double time) override {
    entries.emplace_back(rank, step, phase, time);
    if (std::exchange(command, 0) != 0) held_from = held_from.value_or(time);
  }
  void held_by(Rank, wire::CommandId by) override { command = by; }
  std::map<std::pair<Rank, Step>, double> starts;
  std::vector<std::tuple<Rank, Step, wire::Phase, double>> entries;
  wire::CommandId command = 0;
  std::optional<double> held_from;  ///< By a command, for the first time.
};

/// In the order of ranks, which for each is that of time.
auto by_rank(Log& log) {
  std::ranges::stable_sort(log.entries, {}, [](const auto& entry) { return std::get<Rank>(entry); });
  return log.entries;
}

std::vector<double> last_starts(const ExactRun& run) {
  std::vector<double> starts;
  for (const auto& of_rank : run.step_start) starts.push_back(of_rank.back());
  return starts;
}

double greatest_difference(const std::vector<double>& some, const std::vector<double>& others) {
  double greatest = 0;
  for (std::size_t i = 0; i < others.size(); ++i) greatest = std::max(greatest, std::abs(some.at(i) - others[i]));
  return greatest;
}

/// What noise that differs in its last digits makes of the last starts, by the slow simulation. A rank that begins
/// alone and ends in company hands on a difference times the ratio of the two speeds, from one domain to the next.
double unrest(ExactProgram program, const std::vector<double>& starts) {
  if (!program.noise) return 0;
  double greatest = 0;
  for (const double change : {1e-15, -1e-15, 1e-14, -1e-14}) {
    ExactProgram other = program;
    other.noise = [&](int rank, int step) { return program.noise(rank, step) * (1 + change); };
    greatest = std::max(greatest, greatest_difference(last_starts(simulate(other)), starts));
  }
  return greatest;
}

TEST(RandomScenario, RunsAsTheSlowSimulationSays) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  int restless = 0;
  for (int number = 0; number < 3000; ++number) {
    const Scenario scenario = scenarios.next();
    const HashedNoise noise(scenarios.real(0, 0.02));
    const sim::core::PhaseNoise* const some = scenarios.one_in(3) ? &noise : nullptr;
    const ExactProgram program = exact_program(scenario, some);
    const ExactRun exact = simulate(program);
    const auto run = sim::contention::run(scenario, {.noise = some, .starts_of = scenario.program.steps - 1});
    ASSERT_TRUE(run) << run.error().message;
    const std::vector<double> starts = last_starts(exact);
    const double off = std::max(std::abs(run->makespan - exact.makespan), greatest_difference(run->starts, starts));
    if (off <= 1e-9 * exact.makespan) continue;
    ++restless;
    ASSERT_LE(off, unrest(program, starts)) << "seed " << seed << ", scenario " << number;
  }
  ASSERT_LE(restless, 2) << "seed " << seed;
}

// Ranks of five domains in step, and a last domain of five ranks that is ahead of them: what one rank that begins a
// rounding too early does alone, the others pay for eightfold, and the next domain eightfold again. The makespan is
// that of the same rules in rational numbers.
TEST(Scenario, RanksInStepAreNotPartedByRounding) {
  using namespace std::chrono_literals;
  Scenario scenario;
  scenario.machine = {.ranks = 55,
                      .ranks_per_domain = 10,
                      .core_bandwidth = 9775047000.6497269,
                      .domain_bandwidth = 12474957989.987833};
  scenario.program = {.steps = 19, .kernel = support::Kernel::kMemory, .volume = 27'986'589};
  scenario.communication = {
      .topology = support::Topology::kRing, .distances = {-1}, .protocol = support::Protocol::kEager, .time = 2561us};
  scenario.delays = {{15, 18, 149'743us}, {27, 16, 175'480us}};
  const auto run = sim::contention::run(scenario, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_NEAR(run->makespan, 0.58962070991038973, 1e-14);
  EXPECT_NEAR(simulate(exact_program(scenario, nullptr)).makespan, 0.58962070991038973, 1e-15);
}

TEST(RandomScenario, RunsInSlicesAsInOneGo) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 300; ++number) {
    const Scenario scenario = scenarios.next();
    const auto noise = std::make_shared<HashedNoise>(scenarios.real(0, 0.02));
    Log whole, sliced;
    auto one = sim::contention::Simulation::create(scenario, whole, noise);
    auto many = sim::contention::Simulation::create(scenario, sliced, noise);
    ASSERT_TRUE(one && many);
    one->advance_until(1e9);
    for (double time = 0; !many->finished(); time += scenarios.real(0, 0.05)) many->advance_until(time);
    ASSERT_TRUE(one->finished());
    ASSERT_EQ(whole.entries, sliced.entries) << "seed " << seed << ", scenario " << number;
  }
}

struct RandomOrder {
  Rank rank;
  Step step;
  std::chrono::nanoseconds duration;
};

/// The scenario with one delay by a command, to its end.
void run_with(const RandomOrder& order, const Scenario& scenario, std::shared_ptr<const HashedNoise> noise, Log& log) {
  auto simulation = sim::contention::Simulation::create(scenario, log, std::move(noise));
  ASSERT_TRUE(simulation && simulation->order_delay(order.rank, order.step, order.duration, 1));
  simulation->advance_until(1e9);
}

/// The same with a second one behind it, let go at `time`.
void run_let_go(const RandomOrder& order, const Scenario& scenario, std::shared_ptr<const HashedNoise> noise,
                double time, Log& log) {
  auto simulation = sim::contention::Simulation::create(scenario, log, std::move(noise));
  ASSERT_TRUE(simulation && simulation->order_delay(order.rank, order.step, order.duration, 1));
  ASSERT_TRUE(simulation->order_delay(order.rank, order.step, order.duration, 2));
  simulation->advance_until(time);
  const std::size_t told = log.entries.size();
  ASSERT_EQ(simulation->take_back_delays(order.rank), 2u);
  ASSERT_EQ(log.entries.size(), told);
  simulation->advance_until(1e9);
  ASSERT_TRUE(simulation->finished());
}

TEST(RandomScenario, WhoseDelayIsTakenBackIsFromThenOnTheOneWithTheShorterDelay) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  int restless = 0;
  for (int number = 0; number < 500; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    Scenario scenario = scenarios.next();
    const auto noise = scenarios.one_in(3) ? std::make_shared<HashedNoise>(scenarios.real(0, 0.02)) : nullptr;
    RandomOrder order{scenarios.whole(0, scenario.machine.ranks - 1),
                      scenarios.whole(0, int(scenario.program.steps) - 1),
                      std::chrono::nanoseconds(scenarios.whole(2, 300'000'000))};
    Log whole, let_go, shorter;
    run_with(order, scenario, noise, whole);
    ASSERT_TRUE(whole.held_from);
    const std::chrono::nanoseconds cut(scenarios.whole(1, int(order.duration.count()) - 1));
    run_let_go(order, scenario, noise, *whole.held_from + std::chrono::duration<double>(cut).count(), let_go);
    order.duration = cut;
    run_with(order, scenario, noise, shorter);
    ASSERT_EQ(by_rank(let_go), by_rank(shorter));
    scenario.delays.push_back({order.rank, order.step, cut});
    const ExactProgram program = exact_program(scenario, noise.get());
    const ExactRun exact = simulate(program);
    double off = 0;
    for (const auto& [where, time] : let_go.starts)
      off = std::max(off, std::abs(time - exact.step_start[std::size_t(where.first)][std::size_t(where.second)]));
    if (off <= 1e-9 * exact.makespan) continue;
    ++restless;
    ASSERT_LE(off, unrest(program, last_starts(exact)));
  }
  ASSERT_LE(restless, 2) << "seed " << seed;
}

TEST(RandomScenario, IsTheSameFromBothEnginesWhenCoreBound) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 300; ++number) {
    Scenario scenario = scenarios.next();
    scenario.program.kernel = support::Kernel::kCore;
    const HashedNoise noise(scenarios.real(0, 0.02));
    Log swept, simulated;
    const auto run = sim::contention::run(scenario, {.noise = &noise, .recorder = &swept});
    auto simulation = sim::contention::Simulation::create(scenario, simulated, std::make_shared<HashedNoise>(noise));
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
