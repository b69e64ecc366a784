// What becomes of an operator's commands in a simulation.

#include "monitor/cli/simulation/operator.h"

#include <gmock/gmock.h>

#include "probe/words/noise.h"
#include "tests/sim/contention/scenarios.h"
#include "workloads/sim/noise/interruptions.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using wire::ClearOrder;
using wire::Command;
using wire::CommandId;
using wire::DelayOrder;
using wire::kNoStep;
using wire::NoiseKind;
using wire::NoiseOrder;
using wire::Phase;

/// First moment of each command on each rank; 0: the program's own.
struct Holds final : sim::core::Recorder {
  void step_begins(Rank, Step, double) override {}
  void held_by(Rank, CommandId command) override { next = command; }
  void enters(Rank rank, Step, Phase phase, double time) override {
    const CommandId command = std::exchange(next, 0);
    if (phase != Phase::kDelay && phase != Phase::kNoise) return;
    began[phase].insert({{rank, command}, time});
    last[phase][{rank, command}] = time;
  }
  bool has(Phase phase, Rank rank, CommandId command) const {
    const auto found = began.find(phase);
    return found != began.end() && found->second.contains({rank, command});
  }
  CommandId next = 0;
  std::map<Phase, std::map<std::pair<Rank, CommandId>, double>> began, last;
};

Scenario quiet_scenario() {
  Scenario scenario = reference_scenario();
  scenario.delays.clear();
  return scenario;
}

struct Stage {
  explicit Stage(Scenario scenario = quiet_scenario(), std::shared_ptr<const sim::core::PhaseNoise> noise = nullptr)
      : prepared{std::move(scenario), std::move(noise)} {
    (void)simulation->advance_until(0.05);
  }
  void to_the_end() { (void)simulation->advance_until(1e9); }

  Holds holds;
  sim::Prepared prepared;
  wire::Result<sim::Simulation> simulation = sim::Simulation::create(prepared, holds);
  cli::simulation::Operator op{*simulation, prepared, true};
};

const NoiseOrder kNoise{NoiseKind::kExponential, 1ms, 0};

TEST(DelayCommand, TakesEffectUnderItsNumberAlsoWhereThereAreTwo) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {5}, DelayOrder{100ms, 20}}));
  EXPECT_TRUE(stage.op.obey({8, {5}, DelayOrder{100ms, 20}}));
  stage.to_the_end();
  ASSERT_TRUE(stage.holds.has(Phase::kDelay, 5, 7));
  ASSERT_TRUE(stage.holds.has(Phase::kDelay, 5, 8));
  EXPECT_NEAR(stage.holds.began[Phase::kDelay].at({5, 8}) - stage.holds.began[Phase::kDelay].at({5, 7}), 0.1, 1e-9);
}

TEST(DelayCommand, ForAStepThatHasBegunIsForTheNextOne) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {5}, DelayOrder{100ms, 2}}));
  stage.to_the_end();
  ASSERT_TRUE(stage.holds.has(Phase::kDelay, 5, 7));
  EXPECT_NEAR(stage.holds.began[Phase::kDelay].at({5, 7}), 0.06, 1e-9);
}

TEST(DelayCommand, CountsStepsFromTheNextOneOn) {
  Stage counted, named;
  const auto next = counted.simulation->step_of_delay(5, std::nullopt);
  ASSERT_TRUE(next);
  EXPECT_TRUE(counted.op.obey({7, {5}, DelayOrder{100ms, kNoStep, 4}}));
  EXPECT_TRUE(named.op.obey({7, {5}, DelayOrder{100ms, *next + 3}}));
  EXPECT_FALSE(counted.op.obey({8, {5}, DelayOrder{100ms, kNoStep, 2'000'000'000}})) << "beyond the end";
  counted.to_the_end();
  named.to_the_end();
  ASSERT_TRUE(counted.holds.has(Phase::kDelay, 5, 7));
  EXPECT_EQ(counted.holds.began, named.holds.began);
}

TEST(DelayCommand, IsForAllItsRanksOrNone) {
  Stage stage;
  EXPECT_THAT(stage.op.obey({7, {5, 40}, DelayOrder{100ms, 20}}).error().message, HasSubstr("rank 40"));
  EXPECT_FALSE(stage.op.obey({8, {5, 6}, DelayOrder{100ms, 200}}));
  stage.to_the_end();
  EXPECT_TRUE(stage.holds.began.empty());
}

TEST(Commands, ThatOnlyANewerVersionKnowsAreRefusedWhetherInjectionIsOnOrOff) {
  Stage stage;
  cli::simulation::Operator spectator{*stage.simulation, stage.prepared, false};
  for (auto* op : {&stage.op, &spectator})
    EXPECT_EQ(op->obey({7, {5}, wire::UnknownOrder{"pause"}}).error().message,
              "this order is not known to this version");
  stage.to_the_end();
  EXPECT_FALSE(stage.holds.has(Phase::kDelay, 5, 7));
}

TEST(Commands, OtherThanClearAreRefusedWhereInjectionIsOff) {
  Stage stage;
  cli::simulation::Operator op{*stage.simulation, stage.prepared, false};
  EXPECT_FALSE(op.obey({7, {5}, DelayOrder{100ms, 20}}));
  EXPECT_FALSE(op.obey({8, {5}, kNoise}));
  EXPECT_TRUE(op.obey({9, {5}, ClearOrder{}}));
  stage.to_the_end();
  EXPECT_FALSE(stage.holds.has(Phase::kDelay, 5, 7));
}

TEST(ClearCommand, TakesBackDelaysThatHaveNotBegun) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {}, DelayOrder{100ms, 20}}));
  EXPECT_TRUE(stage.op.obey({8, {5}, DelayOrder{100ms, 30}}));
  EXPECT_TRUE(stage.op.obey({9, {}, ClearOrder{}}));
  stage.to_the_end();
  EXPECT_TRUE(stage.holds.began.empty());
}

TEST(ClearCommand, LetsGoOfARankThatIsHeld) {
  Stage stage, shorter;
  EXPECT_TRUE(stage.op.obey({7, {5}, DelayOrder{1h, 20}}));
  EXPECT_TRUE(shorter.op.obey({7, {5}, DelayOrder{300ms, 20}}));
  (void)stage.simulation->advance_until(0.2 + 0.3);
  EXPECT_TRUE(stage.op.obey({8, {5}, ClearOrder{}}));
  stage.to_the_end();
  shorter.to_the_end();
  EXPECT_DOUBLE_EQ(stage.holds.began[Phase::kDelay].at({5, 7}), 0.2);
  EXPECT_NEAR(stage.simulation->time(), shorter.simulation->time(), 1e-12);
}

TEST(Commands, HoldARankForAnHourInASessionAtMost) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({1, {5, 6}, DelayOrder{40min, 100}}));
  EXPECT_THAT(stage.op.obey({2, {4, 5}, DelayOrder{30min, 100}}).error().message,
              HasSubstr("rank 5 may be held for 1200 s more in this session"));
  EXPECT_TRUE(stage.op.obey({3, {4}, DelayOrder{30min, 100}})) << "rank 4 was not asked before";
  EXPECT_TRUE(stage.op.obey({4, {5}, ClearOrder{}}));
  EXPECT_TRUE(stage.op.obey({5, {5}, DelayOrder{50min, 100}})) << "what was cleared held nobody";
  (void)stage.simulation->advance_until(1.0 + 1000);
  EXPECT_TRUE(stage.op.obey({6, {5}, ClearOrder{}}));
  EXPECT_THAT(stage.op.obey({7, {5}, DelayOrder{50min}}).error().message,
              HasSubstr("rank 5 may be held for 2600 s more in this session"));
  EXPECT_THAT(stage.op.obey({8, {5}, NoiseOrder{NoiseKind::kExponential, 50min, 0}}).error().message,
              HasSubstr("rank 5 may be held for 2600 s more"));
  EXPECT_THAT(stage.op.obey({9, {7}, DelayOrder{2h}}).error().message, HasSubstr("at most 1 h"));
}

TEST(Commands, OfAThousandDelaysThatWaitAreEnough) {
  Stage stage;
  for (CommandId id = 1; id <= 1000; ++id) ASSERT_TRUE(stage.op.obey({id, {5}, DelayOrder{1ms, 100}}));
  EXPECT_THAT(stage.op.obey({1001, {5}, DelayOrder{1ms, 100}}).error().message, HasSubstr("1000 delays waiting"));
}

TEST(NoiseCommand, HoldsARankForAnHourInASessionAtMost) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({1, {5}, NoiseOrder{NoiseKind::kExponential, 10min, 0}}));
  stage.to_the_end();
  EXPECT_DOUBLE_EQ(stage.simulation->ordered_holds(5).begun, 3600) << "200 steps of 10 min on average";
  EXPECT_LT(stage.simulation->time(), 3600 + 10);
}

TEST(ClearCommand, LeavesOtherRanksTheirDelaysAndNoise) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {5, 6}, DelayOrder{100ms, 20}}));
  EXPECT_TRUE(stage.op.obey({8, {}, kNoise}));
  EXPECT_TRUE(stage.op.obey({9, {5}, ClearOrder{}}));
  stage.to_the_end();
  EXPECT_FALSE(stage.holds.has(Phase::kDelay, 5, 7));
  EXPECT_TRUE(stage.holds.has(Phase::kDelay, 6, 7));
  EXPECT_FALSE(stage.holds.has(Phase::kNoise, 5, 8));
  EXPECT_TRUE(stage.holds.has(Phase::kNoise, 6, 8));
}

TEST(ClearCommand, LeavesTheProgramItsOwnDelaysAndNoise) {
  Stage stage(reference_scenario(), std::make_shared<HashedNoise>(0.001));
  EXPECT_TRUE(stage.op.obey({7, {}, ClearOrder{}}));
  stage.to_the_end();
  EXPECT_TRUE(stage.holds.has(Phase::kDelay, 5, 0));
  EXPECT_TRUE(stage.holds.has(Phase::kNoise, 5, 0));
}

TEST(ClearCommand, OfOneNoiseLeavesOthersAndDelays) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {}, kNoise}));
  EXPECT_TRUE(stage.op.obey({8, {5}, kNoise}));
  EXPECT_TRUE(stage.op.obey({9, {6}, DelayOrder{100ms, 20}}));
  (void)stage.simulation->advance_until(0.1);
  EXPECT_TRUE(stage.op.obey({10, {}, ClearOrder{7}}));
  stage.to_the_end();
  EXPECT_LT(stage.holds.last[Phase::kNoise].at({6, 7}), 0.13);
  EXPECT_GT(stage.holds.last[Phase::kNoise].at({5, 8}), 0.5);
  EXPECT_TRUE(stage.holds.has(Phase::kDelay, 6, 9));
}

TEST(ClearCommand, EndsNoiseWithTheStepThatGoesOn) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {}, kNoise}));
  (void)stage.simulation->advance_until(0.5);
  EXPECT_TRUE(stage.op.obey({8, {}, ClearOrder{}}));
  stage.to_the_end();
  EXPECT_LT(stage.holds.last[Phase::kNoise].at({5, 7}), 0.53);
}

TEST(NoiseCommand, TakesEffectUnderItsNumberOnTheRanksThatItNames) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {5, 3}, kNoise}));
  stage.to_the_end();
  for (Rank rank = 0; rank < 40; ++rank)
    EXPECT_EQ(stage.holds.has(Phase::kNoise, rank, 7), rank == 3 || rank == 5) << rank;
}

TEST(NoiseCommand, LeavesOtherRanksTheNoiseThatTheyHave) {
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {5, 6}, kNoise}));
  EXPECT_TRUE(stage.op.obey({8, {6, 7}, kNoise}));
  stage.to_the_end();
  EXPECT_TRUE(stage.holds.has(Phase::kNoise, 5, 7));
  EXPECT_FALSE(stage.holds.has(Phase::kNoise, 6, 7));
  EXPECT_TRUE(stage.holds.has(Phase::kNoise, 6, 8));
  EXPECT_TRUE(stage.holds.has(Phase::kNoise, 7, 8));
}

/// Nothing before step 60, then a millisecond in each.
struct LateNoise final : sim::core::PhaseNoise {
  double after(Rank, Step step, double, double) const override { return step < 60 ? 0 : 0.001; }
};

TEST(NoiseCommand, DoesNotTakeTheProgramsOwnNoiseForItsEffect) {
  Stage stage(quiet_scenario(), std::make_shared<LateNoise>());
  EXPECT_TRUE(stage.op.obey({7, {5}, NoiseOrder{NoiseKind::kPeriodic, 1ms, 0.4}}));
  stage.to_the_end();
  EXPECT_TRUE(stage.holds.has(Phase::kNoise, 5, 0));
  ASSERT_TRUE(stage.holds.has(Phase::kNoise, 5, 7)) << "one interruption in 2.5 s";
  EXPECT_GT(stage.holds.began[Phase::kNoise].at({5, 7}), 0.05);
}

/// The run of an order, which is given at 0.05 s, is that of a scenario with this noise from then on.
TEST(NoiseCommand, PlaysATraceAsAScenarioDoes) {
  const std::vector<wire::Detour> detours{{3ms, 2ms}, {11ms, 500us}, {40ms, 0ms}};
  Stage stage;
  EXPECT_TRUE(stage.op.obey({7, {5}, words::order_of_trace("noise.txt", detours)}));
  stage.to_the_end();
  sim::Prepared prepared{quiet_scenario(), nullptr};
  const sim::noise::TraceInterruptions trace(
      detours, sim::noise::Phases(prepared.scenario.noise.seed + 7, support::NoisePhase::kOwn));
  struct OnRankFive final : sim::core::PhaseNoise {
    explicit OnRankFive(const sim::core::PhaseNoise& noise) : trace(noise) {}
    double after(Rank rank, Step step, double begin, double end) const override {
      return rank == 5 && begin > 0.05 ? trace.after(rank, step, begin, end) : 0;
    }
    const sim::core::PhaseNoise& trace;
  };
  Stage expected(quiet_scenario(), std::make_shared<OnRankFive>(trace));
  expected.to_the_end();
  ASSERT_TRUE(stage.holds.has(Phase::kNoise, 5, 7));
  EXPECT_EQ(stage.simulation->time(), expected.simulation->time());
}

TEST(NoiseCommand, RefusesATraceWithoutItsDetours) {
  Stage stage;
  const Command ordered{7, {5}, words::order_of_trace("noise.txt", {{3ms, 2ms}, {40ms, 0ms}})};
  EXPECT_THAT(stage.op.obey(wire::without_detours(ordered)).error().message, HasSubstr("did not come along"));
}

}  // namespace
}  // namespace idlewave::tests
