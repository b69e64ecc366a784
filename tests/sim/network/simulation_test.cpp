// Runs on a network that go as far as they are told to, judged by the runs that nobody holds up; schedules that are
// watched, by closed forms.

#include "workloads/sim/network/simulation.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>
#include <random>
#include <tuple>

#include "tests/any_seed.h"
#include "tests/sim/network/every_collective.h"
#include "workloads/sim/network/bulk_run.h"
#include "workloads/sim/network/collective_scenario.h"
#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/schedule_simulation.h"
#include "workloads/sim/noise/drawn_noise.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::sim::network {
namespace {

using namespace std::chrono_literals;
using support::Scenario;
using testing::ElementsAre;
using testing::HasSubstr;
using wire::Phase;
using wire::Step;

constexpr double kToItsEnd = std::numeric_limits<double>::max();

struct Log final : core::Recorder {
  using Call = std::tuple<Step, Phase, double>;

  void step_begins(Rank rank, Step step, double time) override { take(rank, {step, Phase::kNone, time}); }
  void enters(Rank rank, Step step, Phase phase, double time) override { take(rank, {step, phase, time}); }
  void take(Rank rank, const Call& call) {
    in_order = in_order && std::get<double>(call) >= last;
    last = std::get<double>(call);
    calls[rank].push_back(call);
  }

  double last = 0;
  bool in_order = true;
  std::map<Rank, std::vector<Call>> calls;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int from(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  bool one_in(int n) { return from(1, n) == 1; }

 private:
  std::mt19937 random_;
};

using support::CollectiveAlgorithm;
using support::CollectiveKind;
using support::CollectiveMode;

constexpr std::pair<CollectiveKind, CollectiveAlgorithm> kCollectives[] = {
    {CollectiveKind::kBarrier, CollectiveAlgorithm::kDissemination},
    {CollectiveKind::kAllreduce, CollectiveAlgorithm::kRecursiveDoubling},
    {CollectiveKind::kAllreduce, CollectiveAlgorithm::kRing},
    {CollectiveKind::kBroadcast, CollectiveAlgorithm::kBinomial},
    {CollectiveKind::kGather, CollectiveAlgorithm::kBinomial},
};

/// A microsecond to a millisecond of work, messages below or above S, at times none of L and o.
Scenario random_scenario(Dice& dice) {
  Scenario scenario;
  scenario.machine = {.ranks = dice.from(1, 40), .ranks_per_domain = 10};
  scenario.program = {.steps = dice.from(1, 12), .kernel = support::Kernel::kCore};
  scenario.program.time = std::chrono::nanoseconds(dice.from(1'000, 1'000'000));
  scenario.communication = {.distances = {}, .message_size = std::uint64_t(dice.from(1, 2000))};
  const bool flies = !dice.one_in(5);
  scenario.communication.loggops =
      support::LogGops{flies ? 2500ns : 0ns, flies ? 1500ns : 0ns, 1000ns, 1e-9, 0, dice.one_in(3) ? 100u : 1u << 30};
  auto& collective = scenario.communication.collective.emplace();
  std::tie(collective.kind, collective.algorithm) = kCollectives[dice.from(0, int(std::size(kCollectives)) - 1)];
  collective.mode = CollectiveMode(dice.from(0, 2));
  collective.root = dice.from(0, scenario.machine.ranks - 1);
  if (dice.one_in(2))
    scenario.delays = {{dice.from(0, scenario.machine.ranks - 1), dice.from(0, int(scenario.program.steps) - 1), 3ms}};
  return scenario;
}

/// Silent, drawn for each step, or in time. The scenario says which, since the engine of collectives asks it.
std::unique_ptr<core::PhaseNoise> random_noise(Dice& dice, Scenario& scenario) {
  if (dice.one_in(3)) return nullptr;
  if (dice.one_in(2)) return std::make_unique<noise::ExponentialNoise>(50e-6, 7);
  scenario.noise.distribution = support::PeriodicNoise{20us, 3000};
  return std::make_unique<noise::PeriodicInterruptions>(20e-6, 1 / 3000.0, noise::Phases{7, support::NoisePhase::kOwn});
}

/// In slices of any length. Whatever is told lies in its slice or before, whose end the engines take to the nearest nanosecond.
void advance_in_slices(Simulation& simulation, const Log& log, Dice& dice) {
  for (double time = 0; !simulation.finished(); time += 1e-6 * dice.from(1, 3000)) {
    ASSERT_TRUE(simulation.advance_until(time));
    ASSERT_LE(log.last, time + 0.5e-9);
    ASSERT_EQ(simulation.time(), log.last);
    ASSERT_LT(time, 1e3);
  }
}

TEST(Simulation, OfCollectivesTellsInTheOrderOfTimeWhatARunTellsOfEachRank) {
  const unsigned seed = any_seed();
  Dice dice(seed);
  for (int number = 0; number < 300; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    Scenario scenario = random_scenario(dice);
    const auto noise = random_noise(dice, scenario);
    Log expected, told;
    ASSERT_TRUE(run_collectives(scenario, {.noise = noise.get(), .recorder = &expected}));
    const auto simulation = simulate_collectives(scenario, told, noise.get(), nullptr);
    ASSERT_TRUE(simulation);
    advance_in_slices(**simulation, told, dice);
    EXPECT_TRUE(told.in_order);
    ASSERT_EQ(told.calls, expected.calls);
  }
}

TEST(Simulation, OfARunThatIsWatchedIsTheRunThatNobodyWatches) {
  const unsigned seed = any_seed();
  Dice dice(seed);
  for (int number = 0; number < 200; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    Scenario scenario = random_scenario(dice);
    const auto noise = random_noise(dice, scenario);
    Log told;
    const auto unseen = run_collectives(scenario, {.noise = noise.get()});
    const auto seen = run_collectives(scenario, {.noise = noise.get(), .recorder = &told});
    ASSERT_TRUE(unseen && seen);
    EXPECT_EQ(std::tuple(seen->makespan, seen->rank_steps, seen->events),
              std::tuple(unseen->makespan, unseen->rank_steps, unseen->events));
    EXPECT_EQ(told.calls.size(), std::size_t(scenario.machine.ranks));
    // A rank may have to do with others' messages when its own last collective is over.
    EXPECT_LE(told.last, unseen->makespan);
    for (const auto& [rank, calls] : told.calls) EXPECT_EQ(std::get<Phase>(calls.back()), Phase::kNone);
  }
}

TEST(Simulation, OnASharedMemoryTellsInSlicesWhatARunTells) {
  const unsigned seed = any_seed();
  Dice dice(seed);
  for (int number = 0; number < 100; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", scenario " << number);
    Scenario scenario = random_scenario(dice);
    scenario.machine.core_bandwidth = 1e9, scenario.machine.domain_bandwidth = 3e9;
    scenario.program.kernel = support::Kernel::kMemory, scenario.program.volume = 300'000;
    const auto noise = random_noise(dice, scenario);
    Log expected, told;
    ASSERT_TRUE(run_on_network(scenario, {.noise = noise.get(), .recorder = &expected}));
    const auto simulation = simulate_on_network(scenario, told, noise.get(), nullptr);
    ASSERT_TRUE(simulation);
    advance_in_slices(**simulation, told, dice);
    EXPECT_TRUE(told.in_order);
    ASSERT_EQ(told.calls, expected.calls);
  }
}

/// L = 1000, o = 100, g = G = O = 0.
const support::LogGops kNetwork{1000ns, 100ns, 0ns, 0, 0, 1 << 20};

ScheduledProgram program_of(const std::string& text) {
  auto schedule = read_goal(text, "test");
  EXPECT_TRUE(schedule) << (schedule ? "" : schedule.error().message);
  return {std::move(*schedule), kNetwork, std::nullopt, nullptr};
}

/// All of it; by rank.
std::map<Rank, std::vector<Log::Call>> told_of(const ScheduledProgram& program) {
  Log log;
  const auto simulation = simulate(program, log, nullptr);
  EXPECT_TRUE(simulation) << (simulation ? "" : simulation.error().message);
  EXPECT_TRUE((*simulation)->advance_until(kToItsEnd));
  EXPECT_TRUE((*simulation)->finished());
  EXPECT_TRUE(log.in_order);
  return log.calls;
}

Log::Call call(Step step, Phase phase, std::int64_t ns) { return {step, phase, double(ns) * 1e-9}; }

constexpr const char* kPingPong = R"(num_ranks 2
rank 0 {
l1: calc 5000
l2: send 1b to 1 tag 7
l3: recv 1b from 1 tag 8
l4: calc 2000
l2 requires l1
l3 requires l2
l4 requires l3
}
rank 1 {
l1: recv 1b from 0 tag 7
l2: calc 3000
l3: send 1b to 0 tag 8
l4: calc 1000
l2 requires l1
l3 requires l2
l4 requires l3
}
)";

TEST(Schedule, IsToldAsCalculationsAndTheWaitingBetweenThem) {
  const auto told = told_of(program_of(kPingPong));
  constexpr std::int64_t kHop = 100 + 1000 + 100;  // o + L + o, from the send's begin to the receiver's end
  constexpr std::int64_t kThere = 5000 + kHop, kSent = kThere + 3000, kBack = kSent + kHop, kEnd = kBack + 2000;
  EXPECT_THAT(told.at(0),
              ElementsAre(call(wire::kNoStep, Phase::kWait, 0), call(0, Phase::kNone, 0), call(0, Phase::kCompute, 0),
                          call(0, Phase::kWait, 5000), call(1, Phase::kNone, kBack), call(1, Phase::kCompute, kBack),
                          call(1, Phase::kWait, kEnd), call(1, Phase::kNone, kEnd)));
  EXPECT_THAT(told.at(1), ElementsAre(call(wire::kNoStep, Phase::kWait, 0), call(0, Phase::kNone, kThere),
                                      call(0, Phase::kCompute, kThere), call(0, Phase::kWait, kSent),
                                      call(1, Phase::kNone, kSent + 100), call(1, Phase::kCompute, kSent + 100),
                                      call(1, Phase::kWait, kSent + 1100), call(1, Phase::kNone, kEnd)));
}

TEST(Schedule, HasNoStepsWhereRanksCalculateAtDifferentTimes) {
  const auto told =
      told_of(program_of("num_ranks 2\nrank 0 {\nl1: calc 10\nl2: calc 10\n}\nrank 1 {\nl1: calc 5\n}\n"));
  EXPECT_THAT(told.at(1), ElementsAre(call(wire::kNoStep, Phase::kWait, 0), call(wire::kNoStep, Phase::kCompute, 0),
                                      call(wire::kNoStep, Phase::kWait, 5), call(wire::kNoStep, Phase::kNone, 20)));
}

TEST(Schedule, OfProcessorsThatWorkAtOnceComputesFromTheFirstToTheLast) {
  const auto told = told_of(program_of(
      "num_ranks 1\nrank 0 {\nl1: calc 100 cpu 0\nl2: calc 300 cpu 1\nl3: calc 50 cpu 0\nl3 requires l1\n}\n"));
  EXPECT_THAT(told.at(0), ElementsAre(call(wire::kNoStep, Phase::kWait, 0), call(wire::kNoStep, Phase::kCompute, 0),
                                      call(wire::kNoStep, Phase::kWait, 300), call(wire::kNoStep, Phase::kNone, 300)));
}

TEST(Schedule, ThatStandsStillEndsWithThoseThatWait) {
  const ScheduledProgram program =
      program_of("num_ranks 2\nrank 0 {\nl1: calc 40\n}\nrank 1 {\nl1: recv 1b from 0 tag 1\n}\n");
  Log log;
  const auto simulation = simulate(program, log, nullptr);
  ASSERT_TRUE(simulation);
  ASSERT_TRUE((*simulation)->advance_until(kToItsEnd));
  EXPECT_EQ((*simulation)->take_run().stuck.size(), 1u);
  EXPECT_THAT(log.calls[1], ElementsAre(call(wire::kNoStep, Phase::kWait, 0), call(wire::kNoStep, Phase::kNone, 40)));
}

TEST(Schedule, ThatIsWatchedInSlicesFinishesAtTheSameNanoseconds) {
  const unsigned seed = any_seed();
  Dice dice(seed);
  for (int number = 0; number < 100; ++number) {
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", schedule " << number);
    RankPrograms programs(Rank(dice.from(1, 30)));
    for (int step = dice.from(1, 6); step > 0; --step) {
      programs.calc_all(std::uint64_t(dice.from(1, 100'000)));
      programs.call({kAll[dice.from(0, int(std::size(kAll)) - 1)], std::uint64_t(dice.from(1, 2000)), 0});
    }
    auto schedule = std::move(programs).build();
    ASSERT_TRUE(schedule);
    ScheduledProgram program{std::move(*schedule), kNetwork, std::nullopt, nullptr};
    program.network.rendezvous_size = dice.one_in(2) ? 100 : 1 << 20;
    if (dice.one_in(2))
      program.machine =
          support::Machine{.ranks_per_domain = dice.from(1, 12), .core_bandwidth = 1e9, .domain_bandwidth = 3e9};
    if (dice.one_in(2)) program.noise = std::make_shared<noise::ExponentialNoise>(20e-6, number);
    Log log;
    const auto simulation = simulate(program, log, nullptr);
    ASSERT_TRUE(simulation);
    advance_in_slices(**simulation, log, dice);
    EXPECT_TRUE(log.in_order);
    EXPECT_EQ((*simulation)->take_run().finish_ns, run(program)->finish_ns);
  }
}

TEST(Schedule, IsShownOnTheMachineThatItIsGiven) {
  ScheduledProgram program = program_of(kPingPong);
  const auto alone = core::model_of(scenery_of(program));
  ASSERT_TRUE(alone);
  EXPECT_EQ(std::tuple(alone->ranks, alone->domains(), alone->core_bound), std::tuple(2, 1, true));
  program.machine = support::Machine{.ranks_per_domain = 1, .core_bandwidth = 4e9, .domain_bandwidth = 10e9};
  const auto shared = core::model_of(scenery_of(program));
  ASSERT_TRUE(shared);
  EXPECT_EQ(std::tuple(shared->ranks, shared->domains(), shared->core_bound), std::tuple(2, 2, false));
}

}  // namespace
}  // namespace idlewave::sim::network
