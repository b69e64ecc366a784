// What holds of any run, whatever the scenario. Random scenarios; a failure tells the seed and the number.

#include <gmock/gmock.h>

#include "tests/any_seed.h"
#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/contention_run.h"

namespace idlewave::tests {
namespace {

using support::Kernel;
using support::Protocol;
using support::Topology;
using support::WaitFlavour;
using wire::Phase;

constexpr double kRounding = 1e-9;  // of the makespan

/// Calls check(scenario, random) for many scenarios.
template <class Check>
void for_random_scenarios(int count, Check check) {
  const unsigned seed = any_seed();
  std::printf("seed %u\n", seed);
  RandomScenarios random(seed);
  for (int number = 0; number < count && !testing::Test::HasFailure(); ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    check(random.next(), random);
  }
}

sim::core::Run run_of(const Scenario& scenario, const sim::core::RunOptions& options) {
  const auto run = sim::contention::run(scenario, options);
  EXPECT_TRUE(run) << (run ? "" : run.error().message);
  return run ? *run : sim::core::Run{};
}

/// Ranks at `distance` from `rank`, in the direction of the sign.
std::optional<Rank> partner(const Scenario& scenario, Rank rank, Rank distance) {
  const Rank ranks = scenario.machine.ranks, there = rank + distance;
  if (scenario.communication.topology == Topology::kChain) {
    return there >= 0 && there < ranks && distance != 0 ? std::optional(there) : std::nullopt;
  }
  const Rank around = ((there % ranks) + ranks) % ranks;
  return around != rank ? std::optional(around) : std::nullopt;
}

/// Those whose message, or whose readiness to take one, `rank` needs before it may end a step.
std::set<Rank> awaited(const Scenario& scenario, Rank rank) {
  std::set<Rank> partners;
  for (const Rank distance : scenario.communication.distances) {
    if (const auto sender = partner(scenario, rank, -distance)) partners.insert(*sender);
    if (scenario.communication.protocol != Protocol::kRendezvous) continue;
    if (const auto receiver = partner(scenario, rank, distance)) partners.insert(*receiver);
  }
  return partners;
}

struct Times final : sim::core::Recorder {
  void step_begins(Rank rank, Step step, double time) override { begins[{rank, step}] = time; }
  void enters(Rank rank, Step step, Phase phase, double time) override {
    if (phase == Phase::kWait) posts[{rank, step}] = time;
    if (phase == Phase::kNone) begins[{rank, step + 1}] = time;
  }
  std::map<std::pair<Rank, Step>, double> begins, posts;
};

TEST(AnyScenario, LetsNobodyBeginAStepBeforeItsPartnersAllowIt) {
  for_random_scenarios(500, [](const Scenario& scenario, RandomScenarios& random) {
    const HashedNoise noise(random.real(0, 0.02));
    Times times;
    const double rounding = kRounding * run_of(scenario, {.noise = &noise, .recorder = &times}).makespan;
    const double transfer = std::chrono::duration<double>(scenario.communication.time).count();
    ASSERT_EQ(times.posts.size(), std::size_t(scenario.machine.ranks) * std::size_t(scenario.program.steps));
    for (Rank rank = 0; rank < scenario.machine.ranks; ++rank) {
      for (const Rank other : awaited(scenario, rank)) {
        for (Step step = 0; step < scenario.program.steps; ++step) {
          ASSERT_GE(times.begins.at({rank, step + 1}), times.posts.at({other, step}) + transfer - rounding)
              << "rank " << rank << " waits for " << other << " in step " << step;
        }
      }
    }
  });
}

/// The integral of b(n) over time, for each domain.
struct Traffic final : sim::core::Recorder {
  struct Domain {
    double moved = 0, time = 0;
    int active = 0;
  };
  explicit Traffic(const support::Machine& the_machine)
      : machine(the_machine),
        domains(std::size_t((machine.ranks + machine.ranks_per_domain - 1) / machine.ranks_per_domain)),
        works(std::size_t(machine.ranks), false) {}
  void step_begins(Rank, Step, double) override {}
  void enters(Rank rank, Step, Phase phase, double time) override {
    Domain& domain = domains[std::size_t(rank / machine.ranks_per_domain)];
    if (domain.active > 0) domain.moved += bandwidth(machine, domain.active) * (time - domain.time);
    domain.time = time;
    domain.active += int(phase == Phase::kCompute) - int(works[std::size_t(rank)]);
    works[std::size_t(rank)] = phase == Phase::kCompute;
  }
  support::Machine machine;
  std::vector<Domain> domains;
  std::vector<bool> works;
};

TEST(AnyMemoryBoundScenario, MovesAsManyBytesAsTheBandwidthOfItsActiveRanksGives) {
  for_random_scenarios(500, [](Scenario scenario, RandomScenarios& random) {
    scenario.program.kernel = Kernel::kMemory;
    const HashedNoise noise(random.real(0, 0.02));
    Traffic traffic(scenario.machine);
    run_of(scenario, {.noise = &noise, .recorder = &traffic});
    const support::Machine& machine = scenario.machine;
    for (std::size_t i = 0; i < traffic.domains.size(); ++i) {
      const int ranks = std::min(machine.ranks_per_domain, machine.ranks - int(i) * machine.ranks_per_domain);
      const double expected = double(scenario.program.volume) * ranks * double(scenario.program.steps);
      ASSERT_NEAR(traffic.domains[i].moved / expected, 1, 1e-9) << "domain " << i;
      ASSERT_EQ(traffic.domains[i].active, 0) << "domain " << i;
    }
  });
}

/// Without noise, and in a ring, where nobody has fewer partners than others. An eager message that takes time leaves
/// slack in which a delay may hide; rendezvous leaves none.
TEST(AnyCoreBoundRing, IsLateByTheDelayWhereTheIdleWaveHasBeenAndOnTimeElsewhere) {
  for_random_scenarios(500, [](Scenario scenario, RandomScenarios& random) {
    scenario.program.kernel = Kernel::kCore;
    scenario.communication.topology = Topology::kRing;
    if (scenario.communication.protocol == Protocol::kEager) scenario.communication.time = {};
    scenario.delays.clear();
    const auto last = Step(scenario.program.steps - 1);
    const auto on_time = run_of(scenario, {.starts_of = last}).starts;
    const support::Delay delay{random.whole(0, scenario.machine.ranks - 1), random.whole(0, int(last)),
                               std::chrono::microseconds(random.whole(1, 300'000))};
    scenario.delays = {delay};
    const auto starts = run_of(scenario, {.starts_of = last}).starts;
    const double late = std::chrono::duration<double>(delay.duration).count();
    for (std::size_t rank = 0; rank < starts.size(); ++rank) {
      const double by = starts[rank] - on_time[rank];
      ASSERT_TRUE(std::abs(by) < 1e-9 || std::abs(by - late) < 1e-9)
          << "rank " << rank << " by " << by << " of " << late;
    }
    if (delay.step < last) {
      const auto origin = std::size_t(delay.rank);
      ASSERT_NEAR(starts[origin] - on_time[origin], late, 1e-9) << "the rank that was held";
    }
  });
}

TEST(AnyScenario, HasTheActiveMeansOfTheSlowSimulation) {
  for_random_scenarios(500, [](const Scenario& scenario, RandomScenarios& random) {
    const HashedNoise noise(random.real(0, 0.02));
    const double from = random.real(0, 0.8), to = random.real(from + 0.1, 1);
    const ExactRun exact = simulate(exact_program(scenario, &noise));
    const auto run = run_of(scenario, {.noise = &noise, .active_means_of = sim::core::Fractions{from, to}});
    ASSERT_FALSE(run.active_means.empty());
    for (std::size_t domain = 0; domain < run.active_means.size(); ++domain) {
      ASSERT_NEAR(run.active_means[domain], exact.active_mean(int(domain), scenario.machine.ranks_per_domain, from, to),
                  1e-6)
          << "domain " << domain;
    }
  });
}

}  // namespace
}  // namespace idlewave::tests
