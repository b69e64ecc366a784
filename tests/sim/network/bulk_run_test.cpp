// Scenarios on a LogGOPS network: against the engines with a transfer time, and against closed forms.

#include "workloads/sim/network/bulk_run.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/contention/contention_run.h"
#include "workloads/sim/network/collective_run.h"
#include "workloads/sim/noise/drawn_noise.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;
using support::LogGops;
using support::Nanoseconds;
using wire::Phase;

/// Latency and nothing else.
Scenario on_network(Scenario scenario) {
  scenario.communication.loggops = LogGops{scenario.communication.time, {}, {}, 0, 0, 1 << 20};
  return scenario;
}

/// Ends of work and noise are rounded. Where ranks share nothing, steps add that up. Where they share a domain, a
/// difference grows from step to step by up to a factor of about 2, in either simulation: the fewer steps, the sharper
/// the comparison. A transfer is a microsecond at least, or takes no time.
double tolerance(const Scenario& scenario) {
  return scenario.program.kernel == support::Kernel::kCore ? 2e-9 * (1 + double(scenario.program.steps)) : 1e-6;
}

Scenario next_comparable(RandomScenarios& scenarios) {
  Scenario scenario = scenarios.next();
  // A rendezvous is over a latency after the send here, after both posts there.
  if (scenario.communication.protocol == support::Protocol::kRendezvous) scenario.communication.time = {};
  if (scenario.program.kernel == support::Kernel::kCore) return scenario;
  scenario.program.steps = std::min<Step>(scenario.program.steps, 6);
  for (support::Delay& delay : scenario.delays) delay.step %= scenario.program.steps;
  return scenario;
}

void expect_same(const Scenario& scenario, const sim::core::PhaseNoise* noise) {
  const Step step = scenario.program.steps - 1;
  const sim::core::RunOptions options{
      .noise = noise, .starts_of = step, .active_means_of = sim::core::Fractions{0.2, 0.9}};
  const auto exact = sim::contention::run(scenario, options);
  const auto run = sim::network::run_on_network(on_network(scenario), options);
  ASSERT_TRUE(exact && run) << run.error().message;
  const double near = tolerance(scenario);
  ASSERT_NEAR(run->makespan, exact->makespan, near);
  EXPECT_EQ(run->rank_steps, exact->rank_steps);
  for (std::size_t rank = 0; rank < exact->starts.size(); ++rank)
    ASSERT_NEAR(run->starts[rank], exact->starts[rank], near) << "rank " << rank;
  for (std::size_t domain = 0; domain < exact->active_means.size(); ++domain)
    ASSERT_NEAR(run->active_means[domain], exact->active_means[domain], 1e-3) << "domain " << domain;
}

TEST(BulkRun, WithLatencyAloneIsAsWithATransferTime) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 1000; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    const Scenario scenario = next_comparable(scenarios);
    const HashedNoise noise(scenarios.real(0, 0.02));
    expect_same(scenario, scenarios.one_in(3) ? &noise : nullptr);
    if (HasFatalFailure()) return;
  }
}

struct Log final : sim::core::Recorder {
  void step_begins(Rank rank, Step step, double time) override { take(rank, step, Phase::kNone, time); }
  void enters(Rank rank, Step step, Phase phase, double time) override { take(rank, step, phase, time); }
  void take(Rank rank, Step step, Phase phase, double time) {
    in_order = in_order && time >= last;
    last = time;
    phases[rank].emplace_back(step, phase, time);
  }
  double last = 0;
  bool in_order = true;
  std::map<Rank, std::vector<std::tuple<Step, Phase, double>>> phases;
};

TEST(BulkRun, TellsOfPhasesInTheOrderOfTimeAndAsTheOtherEnginesDo) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 200; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    const Scenario scenario = next_comparable(scenarios);
    const HashedNoise noise(scenarios.real(0, 0.02));
    Log ours, theirs;
    ASSERT_TRUE(sim::network::run_on_network(on_network(scenario), {.noise = &noise, .recorder = &ours}));
    ASSERT_TRUE(sim::contention::run(scenario, {.noise = &noise, .recorder = &theirs}));
    ASSERT_TRUE(ours.in_order);
    for (const auto& [rank, phases] : theirs.phases) {
      ASSERT_EQ(ours.phases[rank].size(), phases.size());
      for (std::size_t i = 0; i < phases.size(); ++i) {
        const auto& [step, phase, time] = ours.phases[rank][i];
        ASSERT_EQ(std::pair(step, phase), std::pair(std::get<0>(phases[i]), std::get<1>(phases[i])));
        ASSERT_NEAR(time, std::get<2>(phases[i]), tolerance(scenario));
      }
    }
  }
}

TEST(BulkRun, TellsOfEveryStepInTheOrderOfTimeUnderInterruptions) {
  const unsigned seed = any_seed();
  RandomScenarios scenarios(seed);
  for (int number = 0; number < 200; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    Scenario scenario = scenarios.next();
    scenario.communication.loggops = LogGops{5us, 3us, 4us, 1e-9, 2e-9, 1 << 20};
    const sim::noise::PeriodicInterruptions noise(scenarios.real(1e-6, 1e-3), 1.5e-3,
                                                  {seed, support::NoisePhase::kOwn});
    Log quiet, noisy;
    const auto without = sim::network::run_on_network(scenario, {.recorder = &quiet});
    const auto with = sim::network::run_on_network(scenario, {.noise = &noise, .recorder = &noisy});
    ASSERT_TRUE(without && with);
    ASSERT_TRUE(quiet.in_order && noisy.in_order);
    EXPECT_EQ(with->rank_steps, std::uint64_t(scenario.machine.ranks) * std::uint64_t(scenario.program.steps));
    for (auto& [rank, phases] : noisy.phases) {
      std::erase_if(phases, [](const auto& entry) { return std::get<1>(entry) == Phase::kNoise; });
      ASSERT_EQ(phases.size(), quiet.phases[rank].size());
      for (std::size_t i = 0; i < phases.size(); ++i)
        ASSERT_EQ(std::get<1>(phases[i]), std::get<1>(quiet.phases[rank][i]));
    }
  }
}

/// Ranks in a chain that send to the next one, 1 ms of work in each of `steps`.
Scenario chain(Rank ranks, Step steps, LogGops network) {
  Scenario scenario;
  scenario.machine = {.ranks = ranks, .ranks_per_domain = 1, .core_bandwidth = 1e9, .domain_bandwidth = 1e9};
  scenario.program = {.steps = steps, .kernel = support::Kernel::kCore, .time = 1ms};
  scenario.communication.topology = support::Topology::kChain;
  scenario.communication.distances = {1};
  scenario.communication.message_size = 11;
  scenario.communication.loggops = network;
  return scenario;
}

constexpr double kMicro = 1e-6;

TEST(BulkRun, AnExchangeCostsOverheadsGapsAndBytes) {
  // L = 5 us, o = 2 us, G = 100 ns/B, O = 10 ns/B.
  const LogGops network{5us, 2us, 1us, 100e-9, 10e-9, 1000};
  // Rank 1 receives at 1 ms + o + L and is free o + 10 max(G, O) later.
  EXPECT_NEAR(sim::network::run_on_network(chain(2, 1, network), {})->makespan, 1e-3 + (2 + 5 + 2 + 1) * kMicro, 1e-12);
  // With two steps rank 1 is in its second when the second message arrives: 1 ms later, but rank 0 began it 9.9 us
  // before.
  const auto run = sim::network::run_on_network(chain(2, 2, network), {.starts_of = 1});
  EXPECT_NEAR(run->starts[0], 1e-3 + 2.1 * kMicro, 1e-12);
  EXPECT_NEAR(run->starts[1], 1e-3 + 10 * kMicro, 1e-12);
  // Its second receive is posted when its work is over; the message came 0.9 us before and is dealt with then.
  EXPECT_NEAR(run->makespan, 2e-3 + 10 * kMicro + 3 * kMicro, 1e-12);
}

TEST(BulkRun, ARendezvousHoldsItsSenderUntilTheReceive) {
  const LogGops network{5us, {}, {}, 0, 0, 10};
  Scenario scenario = chain(2, 1, network);
  scenario.delays = {{1, 0, 3ms}};
  const auto ends = [&](support::Protocol protocol) {
    scenario.communication.protocol = protocol;
    Log log;
    EXPECT_TRUE(sim::network::run_on_network(scenario, {.recorder = &log}));
    return std::get<2>(log.phases[0].back());
  };
  // 11 B are more than S. The message waits at the receiver, which posts at 3 ms + 1 ms: then both are done.
  EXPECT_NEAR(ends(support::Protocol::kAuto), 4e-3, 1e-12);
  EXPECT_NEAR(ends(support::Protocol::kRendezvous), 4e-3, 1e-12);
  EXPECT_NEAR(ends(support::Protocol::kEager), 1e-3, 1e-12);
  scenario.communication.loggops->rendezvous_size = 11;
  EXPECT_NEAR(ends(support::Protocol::kAuto), 1e-3, 1e-12);
}

TEST(BulkRun, ADelayTravelsOneRankAStep) {
  Scenario scenario = chain(10, 20, {1us, 1us, {}, 0, 0, 1000});
  scenario.delays = {{2, 3, 500ms}};
  const auto run = sim::network::run_on_network(scenario, {.starts_of = 8});
  // Five steps later it has come five ranks far.
  for (Rank rank = 0; rank < 10; ++rank)
    EXPECT_EQ(run->starts[std::size_t(rank)] > 0.5, rank >= 2 && rank <= 7) << rank;
}

TEST(BulkRun, RefusesWhatNoScheduleCanHold) {
  Scenario scenario = chain(1'000'000, 1000, {});
  EXPECT_THAT(sim::network::run_on_network(scenario, {}).error().message, testing::HasSubstr("fewer ranks or steps"));
  EXPECT_THAT(sim::network::bytes_on_network(scenario).error().message, testing::HasSubstr("fewer ranks or steps"));
  scenario = chain(2, 10, {});
  EXPECT_THAT(sim::network::run_on_network(scenario, {.starts_of = 10}).error().message,
              testing::HasSubstr("from 0 to 9"));
  scenario.program.time = std::chrono::hours(24 * 365);
  EXPECT_THAT(sim::network::run_on_network(scenario, {}).error().message, testing::HasSubstr("work in a step"));
}

TEST(BulkRun, WorkOfLessThanANanosecondTakesOne) {
  Scenario scenario = chain(3, 5, {});
  scenario.program = {.steps = 5, .kernel = support::Kernel::kMemory, .volume = 1};
  scenario.machine.core_bandwidth = scenario.machine.domain_bandwidth = 1e12;
  const auto run = sim::network::run_on_network(scenario, {});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_NEAR(run->makespan, 5e-9, 1e-15);
}

TEST(BulkRun, EndsWithWhatItHasWhenItIsStopped) {
  const std::atomic<bool> stop = true;
  const auto run = sim::network::run_on_network(chain(100, 1000, {}), {.stop = &stop});
  EXPECT_TRUE(run->stopped);
  EXPECT_LT(run->rank_steps, 100u * 1000);
  EXPECT_GT(run->makespan, 0);
}

using support::CollectiveAlgorithm;
using support::CollectiveKind;
using support::CollectiveMode;

constexpr std::pair<CollectiveKind, CollectiveAlgorithm> kCollectives[] = {
    {CollectiveKind::kBarrier, CollectiveAlgorithm::kDissemination},
    {CollectiveKind::kAllreduce, CollectiveAlgorithm::kDissemination},
    {CollectiveKind::kAllreduce, CollectiveAlgorithm::kRecursiveDoubling},
    {CollectiveKind::kAllreduce, CollectiveAlgorithm::kRing},
    {CollectiveKind::kAllgather, CollectiveAlgorithm::kBruck},
    {CollectiveKind::kBroadcast, CollectiveAlgorithm::kBinomial},
    {CollectiveKind::kGather, CollectiveAlgorithm::kBinomial},
};

/// Ten ranks on a domain that saturates at `saturation` of them; 1 ms of work for a rank that is alone.
Scenario with_collective(Rank ranks, double saturation) {
  Scenario scenario;
  scenario.machine = {
      .ranks = ranks, .ranks_per_domain = 10, .core_bandwidth = 1e9, .domain_bandwidth = saturation * 1e9};
  scenario.program = {.steps = 8, .kernel = support::Kernel::kMemory, .volume = 1'000'000};
  scenario.communication = {.distances = {}, .message_size = 8};
  scenario.communication.loggops = LogGops{2500ns, 1500ns, 1000ns, 6e-9, 0, 1 << 20};
  scenario.communication.collective.emplace();
  return scenario;
}

/// The same program where ranks share nothing, by the engine of collectives alone.
sim::network::CollectiveRun alone(const Scenario& scenario, const sim::core::PhaseNoise& noise) {
  sim::network::CollectiveProgram program{.ranks = scenario.machine.ranks,
                                          .steps = scenario.program.steps,
                                          .work_ns = 1'000'000,
                                          .call = sim::network::call_of(scenario.communication),
                                          .mode = scenario.communication.collective->mode};
  const auto run = sim::network::run(program, *scenario.communication.loggops, {.noise = &noise});
  EXPECT_TRUE(run);
  return *run;
}

TEST(BulkRun, CollectivesOfRanksThatShareNothingAreThoseOfTheirOwnEngine) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  const auto from = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  int compared = 0;
  for (int number = 0; number < 300; ++number) {
    Scenario scenario = with_collective(from(1, 40), 10);
    auto& collective = *scenario.communication.collective;
    std::tie(collective.kind, collective.algorithm) = kCollectives[from(0, int(std::size(kCollectives)) - 1)];
    collective.mode = CollectiveMode(from(0, 2));
    collective.root = from(0, scenario.machine.ranks - 1);
    const sim::noise::ExponentialNoise noise(1e-6 * from(1, 3000), seed + unsigned(number));
    const sim::network::CollectiveRun expected = alone(scenario, noise);
    if (expected.tied) continue;
    ++compared;
    const auto run = sim::network::run_on_network(scenario, {.noise = &noise});
    ASSERT_TRUE(run) << run.error().message;
    const double makespan = double(*std::ranges::max_element(expected.finish_ns)) * 1e-9;
    ASSERT_NEAR(run->makespan, makespan, 1e-12) << "seed " << seed << ", number " << number;
  }
  EXPECT_GT(compared, 100);
}

/// Nobody begins a step before all have ended the last: a domain never leaves lockstep, and a delay costs its length.
TEST(BulkRun, AnAllreduceInEachStepKeepsMemoryBoundRanksInLockstep) {
  Scenario scenario = with_collective(40, 5);
  const auto undelayed = sim::network::run_on_network(scenario, {.active_means_of = sim::core::Fractions{0.1, 0.9}});
  ASSERT_TRUE(undelayed) << undelayed.error().message;
  scenario.delays.push_back({5, 3, 10ms});
  const auto delayed = sim::network::run_on_network(scenario, {.active_means_of = sim::core::Fractions{0.9, 1}});
  ASSERT_TRUE(delayed);
  // Ten ranks take twice as long as one; a round takes at least L + 2 o, and there are six for 40 ranks.
  EXPECT_GT(undelayed->makespan, 8 * (2e-3 + 6 * 5.5e-6));
  EXPECT_LT(undelayed->makespan, 8 * (2e-3 + 6 * 10e-6));
  // On the delayed rank's domain nine ranks work first, and then one alone: 9/5 ms, and a tenth of the work after 10
  // ms.
  EXPECT_GT(delayed->makespan, undelayed->makespan + 8.9e-3);
  EXPECT_LT(delayed->makespan, undelayed->makespan + 10.1e-3);
  for (const double active : undelayed->active_means) EXPECT_GT(active, 9.5);
}

}  // namespace
}  // namespace idlewave::tests
