// The contention engines against the published reference case, the table of idle wave speeds, and what must always
// hold.

#include <gmock/gmock.h>

#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/contention_run.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;
using support::Protocol;
using support::WaitFlavour;
using testing::HasSubstr;

sim::core::Run run_of(const Scenario& scenario, const sim::core::RunOptions& options = {}) {
  const auto run = sim::contention::run(scenario, options);
  EXPECT_TRUE(run) << (run ? "" : run.error().message);
  return run ? *run : sim::core::Run{};
}

double spread(const std::vector<double>& starts) { return std::ranges::max(starts) - std::ranges::min(starts); }

TEST(ReferenceScenario, EndsWhenItShould) {
  EXPECT_NEAR(run_of(reference_scenario()).makespan, 3.181, 0.0005);
  EXPECT_EQ(run_of(reference_scenario()).rank_steps, 40u * 200u);
}

TEST(ReferenceScenario, LeavesTheHitDomainInLockstepAndTheOthersNearSaturation) {
  const auto run = run_of(reference_scenario(), {.active_means_of = sim::core::Fractions{0.60, 0.85}});
  const double expected[] = {10.0, 5.0, 6.0, 5.0};
  ASSERT_EQ(run.active_means.size(), 4u);
  for (std::size_t domain = 0; domain < 4; ++domain) {
    EXPECT_NEAR(run.active_means[domain], expected[domain], 0.05) << domain;
  }
}

TEST(ReferenceScenario, KeepsAComputationalWavefront) {
  EXPECT_NEAR(spread(run_of(reference_scenario(), {.starts_of = 140}).starts), 0.066, 0.0005);
}

TEST(ReferenceScenario, HasNoWavefrontBelowSaturation) {
  for (const int per_domain : {3, 5}) {
    Scenario scenario = reference_scenario();
    scenario.machine.ranks_per_domain = per_domain;
    EXPECT_NEAR(spread(run_of(scenario, {.starts_of = 140}).starts), 0, 1e-9) << per_domain;
  }
}

TEST(ActiveMeans, AreThoseOfTheSlowSimulation) {
  const ExactRun exact = simulate(exact_program(reference_scenario(), nullptr));
  const auto run = run_of(reference_scenario(), {.active_means_of = sim::core::Fractions{0.1, 0.35}});
  ASSERT_EQ(run.active_means.size(), 4u);
  for (int domain = 0; domain < 4; ++domain) {
    EXPECT_NEAR(run.active_means[static_cast<std::size_t>(domain)], exact.active_mean(domain, 10, 0.1, 0.35), 1e-6);
  }
}

struct WaveSpeed {
  const char* pattern;
  std::vector<Rank> distances;
  WaitFlavour wait;
  Protocol protocol;
  int down;
  int up;
};

Scenario core_bound_chain(const WaveSpeed& row) {
  Scenario scenario;
  scenario.machine = {.ranks = 61, .ranks_per_domain = 10};
  scenario.program = {.steps = 30, .kernel = support::Kernel::kCore, .time = 10ms};
  scenario.communication.topology = support::Topology::kChain;
  scenario.communication.distances = row.distances;
  scenario.communication.wait = row.wait;
  scenario.communication.protocol = row.protocol;
  return scenario;
}

/// How far from rank 30 a delay at step 10 is felt 6 steps later, in ranks per step.
int ranks_per_step(const std::vector<double>& starts, int direction) {
  constexpr int kSteps = 6;
  int reach = 0;
  for (int distance = 1; distance < 30; ++distance) {
    if (starts[static_cast<std::size_t>(30 + direction * distance)] > 0.16 + 1e-6) reach = distance;
  }
  return (reach + kSteps / 2) / kSteps;
}

class IdleWave : public testing::TestWithParam<WaveSpeed> {};

TEST_P(IdleWave, HasTheSpeedOfItsPattern) {
  Scenario scenario = core_bound_chain(GetParam());
  scenario.delays = {{30, 10, 1s}};
  const auto starts = run_of(scenario, {.starts_of = 16}).starts;
  EXPECT_EQ(ranks_per_step(starts, -1), GetParam().down);
  EXPECT_EQ(ranks_per_step(starts, +1), GetParam().up);
}

TEST_P(IdleWave, MakesEveryRankThatItReachesLateByTheDelay) {
  Scenario scenario = core_bound_chain(GetParam());
  scenario.communication.topology = support::Topology::kRing;
  scenario.delays = {{30, 10, 1s}};
  const std::vector<double> starts = run_of(scenario, {.starts_of = 20}).starts;
  ASSERT_EQ(starts.size(), std::size_t(scenario.machine.ranks));
  for (const double start : starts) {
    EXPECT_TRUE(std::abs(start - 0.2) < 1e-9 || std::abs(start - 1.2) < 1e-9) << start;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, IdleWave,
    testing::Values(WaveSpeed{"one_direction", {1}, WaitFlavour::kAll, Protocol::kEager, 0, 1},
                    WaveSpeed{"one_direction", {1}, WaitFlavour::kAll, Protocol::kRendezvous, 1, 1},
                    WaveSpeed{"both", {-1, 1}, WaitFlavour::kAll, Protocol::kEager, 1, 1},
                    WaveSpeed{"both", {-1, 1}, WaitFlavour::kAll, Protocol::kRendezvous, 1, 1},
                    WaveSpeed{"both_split", {-1, 1}, WaitFlavour::kSplit, Protocol::kEager, 1, 1},
                    WaveSpeed{"both_split", {-1, 1}, WaitFlavour::kSplit, Protocol::kRendezvous, 2, 2},
                    WaveSpeed{"two_each", {-2, -1, 1, 2}, WaitFlavour::kAll, Protocol::kEager, 2, 2},
                    WaveSpeed{"two_each", {-2, -1, 1, 2}, WaitFlavour::kAll, Protocol::kRendezvous, 2, 2},
                    WaveSpeed{"fig_5c", {1, -1, -2}, WaitFlavour::kSplit, Protocol::kEager, 3, 1},
                    WaveSpeed{"fig_5c", {1, -1, -2}, WaitFlavour::kSplit, Protocol::kRendezvous, 4, 4}),
    [](const auto& row) {
      return std::string{row.param.pattern} + (row.param.protocol == Protocol::kEager ? "_eager" : "_rendezvous");
    });

/// The integral of b(n) over each domain.
struct Bytes final : sim::core::Recorder {
  explicit Bytes(const support::Machine& the_machine)
      : machine(the_machine), domains(static_cast<std::size_t>(machine.ranks / machine.ranks_per_domain)) {}
  void step_begins(Rank, Step, double) override {}
  void enters(Rank rank, Step, wire::Phase phase, double time) override {
    Domain& domain = domains[static_cast<std::size_t>(rank / machine.ranks_per_domain)];
    if (domain.active > 0) domain.moved += bandwidth(machine, domain.active) * (time - domain.time);
    domain.time = time;
    domain.active += (phase == wire::Phase::kCompute) - working[rank];
    working[rank] = phase == wire::Phase::kCompute;
  }
  struct Domain {
    double moved = 0, time = 0;
    int active = 0;
  };
  support::Machine machine;
  std::vector<Domain> domains;
  std::map<Rank, bool> working;
};

TEST(MemoryBoundRun, MovesAsManyBytesAsTheBandwidthOfItsActiveRanksGives) {
  const Scenario scenario = reference_scenario();
  const HashedNoise noise(0.001);
  Bytes bytes(scenario.machine);
  run_of(scenario, {.noise = &noise, .recorder = &bytes});
  for (const auto& domain : bytes.domains) EXPECT_NEAR(domain.moved, 10 * 200 * 50e6, 1e3);
}

TEST(AnyRun, LetsNobodyBeginAStepBeforeItsPartnersAllowIt) {
  struct Order final : sim::core::Recorder {
    void step_begins(Rank rank, Step step, double time) override {
      if (step == 0) return;
      for (const Rank sender : {(rank + 39) % 40, (rank + 1) % 40}) {
        EXPECT_GE(time, (waits[{sender, step - 1}]) + 0.002 - 1e-12);
      }
    }
    void enters(Rank rank, Step step, wire::Phase phase, double time) override {
      if (phase == wire::Phase::kWait) waits[{rank, step}] = time;
    }
    std::map<std::pair<Rank, Step>, double> waits;
  } order;
  Scenario scenario = reference_scenario();
  scenario.communication.time = 2ms;
  const HashedNoise noise(0.003);
  run_of(scenario, {.noise = &noise, .recorder = &order});
  EXPECT_EQ(order.waits.size(), 40u * 200u);
}

TEST(AnyRun, OfASenderFarAheadOfItsReceiverIsExact) {
  Scenario scenario = reference_scenario();
  scenario.communication.distances = {1};
  scenario.communication.topology = support::Topology::kChain;
  scenario.communication.time = 100ms;
  const ExactRun exact = simulate(exact_program(scenario, nullptr));
  EXPECT_NEAR(run_of(scenario).makespan, exact.makespan, 1e-9 * exact.makespan);
}

TEST(AnyRun, SaysWhatMemoryItNeeds) {
  Scenario scenario = reference_scenario();
  const auto small = sim::contention::bytes_needed(scenario, {});
  scenario.machine.ranks = 1'000'000;
  const auto large = sim::contention::bytes_needed(scenario, {});
  ASSERT_TRUE(small && large);
  EXPECT_GT(*large, 52u * 1'000'000u);
  EXPECT_LT(*large, 256u * 1'000'000u);
  EXPECT_LT(*small, 10'000u);
}

TEST(AnyRun, StopsWhenToldWithWhatItHas) {
  Scenario scenario = reference_scenario();
  scenario.program.steps = 1'000'000;
  const std::atomic<bool> stop{true};
  for (const auto kernel : {support::Kernel::kMemory, support::Kernel::kCore}) {
    scenario.program.kernel = kernel;
    scenario.program.time = 10ms;
    const auto run = run_of(scenario, {.stop = &stop});
    EXPECT_TRUE(run.stopped);
    EXPECT_LT(run.rank_steps, 100'000u);
  }
}

TEST(AnyRun, GoesByRendezvousAboveTheEagerLimitUnlessToldOtherwise) {
  Scenario scenario = core_bound_chain({"", {1}, WaitFlavour::kAll, Protocol::kAuto, 0, 0});
  scenario.delays = {{30, 10, 1s}};
  scenario.communication.message_size = 64 * 1024;
  EXPECT_EQ(ranks_per_step(run_of(scenario, {.starts_of = 16}).starts, -1), 0);
  scenario.communication.message_size = 64 * 1024 + 1;
  EXPECT_EQ(ranks_per_step(run_of(scenario, {.starts_of = 16}).starts, -1), 1);
}

TEST(ScenarioThatCannotRun, IsRefusedInOneLine) {
  Scenario network = reference_scenario();
  network.communication.loggops.emplace();
  EXPECT_THAT(sim::contention::run(network, {}).error().message, HasSubstr("LogGOPS"));
  Scenario real = reference_scenario();
  real.program.kernel = support::Kernel::kTriad;
  EXPECT_THAT(sim::contention::run(real, {}).error().message, HasSubstr("\"triad\" needs real cores"));
  Scenario outside = reference_scenario();
  outside.delays[0].rank = 40;
  EXPECT_THAT(sim::contention::run(outside, {}).error().message, HasSubstr("from 0 to 39"));
  EXPECT_THAT(sim::contention::run(reference_scenario(), {.starts_of = 200}).error().message,
              HasSubstr("from 0 to 199"));
  EXPECT_FALSE(sim::contention::run(reference_scenario(), {.active_means_of = sim::core::Fractions{0.9, 0.1}}));
}

TEST(ScenarioThatCannotRun, IsOneOfWhichNanosecondsCanTellNoEnd) {
  Scenario slow = reference_scenario();
  slow.program.steps = 20;
  for (const double bandwidth : {1e-299, 1e-12, 1e-2}) {
    slow.machine.curve = {10e9, bandwidth, 25e9};
    EXPECT_THAT(sim::contention::run(slow, {}).error().message, HasSubstr("73 years")) << bandwidth;
  }
  // 1.6e9 s are half a century.
  slow.machine.curve = {50e6 / 1.6e9};
  slow.delays.clear();
  slow.machine.ranks_per_domain = 1;
  EXPECT_THAT(sim::contention::run(slow, {}).error().message, HasSubstr("the run is longer than"));
  slow.program.steps = 1;
  EXPECT_NEAR(run_of(slow).makespan, 1.6e9, 1);
  Scenario core = core_bound_chain({"", {1}, WaitFlavour::kAll, Protocol::kEager, 0, 0});
  core.program.time = 1'600'000'000s;
  EXPECT_THAT(sim::contention::run(core, {}).error().message, HasSubstr("the run is longer than"));
}

}  // namespace
}  // namespace idlewave::tests
