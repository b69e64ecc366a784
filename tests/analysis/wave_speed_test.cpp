// Speeds of several waves at once, which cross, or launch into each other's tails, held against closed forms: a speed covers
// the truth, or is null.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "monitor/analysis/waves/walk_fit.h"
#include "monitor/analysis/waves/waves.h"
#include "monitor/theory/idle_wave.h"
#include "tests/analysis/ms.h"
#include "tests/analysis/random_wave_programs.h"
#include "tests/analysis/told_run.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::Holds;
using test::ms;
using test::RandomWavePrograms;
using test::Told;
using tests::ExactProgram;
using tests::ExactRun;

/// sigma d of both directions.
theory::RanksPerStep sigma_d(const ExactProgram& program) {
  const auto& c = program.communication;
  const std::vector<int> distances(c.distances.begin(), c.distances.end());
  return theory::ranks_per_step(
      {distances, c.protocol == support::Protocol::kRendezvous, c.wait == support::WaitFlavour::kSplit});
}

/// Of a step of all ranks, over the steps in which the front ran, had nothing been delayed.
double undisturbed_step(const ExactRun& quiet, const waves::WaveDirection& direction) {
  const auto first = std::size_t(direction.front.front().step), last = std::size_t(direction.front.back().step);
  double sum = 0;
  for (const auto& starts : quiet.step_start) sum += starts[last] - starts[first];
  return sum / double(quiet.step_start.size()) / double(last - first);
}

struct Found {
  int fronts = 0;  ///< Long enough for a speed.
  int speeds = 0;
  int wrong = 0;  ///< Off by more than 5 %, and by more than three standard errors.
  int far = 0;    ///< Off by more than two standard errors, of those that have one.

  void add(const std::optional<Estimate>& speed, double truth, double rounding) {
    ++fronts;
    if (!speed) return;
    ++speeds;
    const double off = std::abs(speed->value - truth), error = speed->error.value_or(0);
    wrong += off > std::max(0.05 * truth, 3 * error);
    far += speed->error && off > 2 * error + rounding * truth;
  }
};

struct Speeds {
  Found leading, trailing, per_step;
};

double mean_noise(const ExactRun& run) {
  double sum = 0;
  std::size_t steps = 0;
  for (const auto& of_rank : run.work)
    for (const auto& work : of_rank) sum += work.noise, ++steps;
  return sum / double(steps);
}

void look_at_speeds(const ExactProgram& program, Told told, Speeds& found) {
  constexpr double kRounding = 1e-5;
  const ExactRun run = simulate(program);
  ExactProgram undelayed = program;
  undelayed.delays.clear();
  const ExactRun quiet = simulate(undelayed);
  const auto far = sigma_d(program);
  for (const waves::Wave& wave :
       waves::find_waves(test::timeline_of(program, run, told), {Nanoseconds{0}, Nanoseconds::max()}))
    for (const waves::WaveDirection* direction : {&wave.up, &wave.down}) {
      const double hop = direction->sign > 0 ? far.up : far.down;
      if (direction->front.size() < 5 || direction->front.back().step - direction->front.front().step < 4) continue;
      found.leading.add(direction->leading.ranks_per_s, hop / undisturbed_step(quiet, *direction), kRounding);
      found.trailing.add(direction->trailing.ranks_per_s, hop / (program.time + mean_noise(run)), kRounding);
      found.per_step.add(direction->leading.ranks_per_step, hop, kRounding);
    }
}

void print(const char* what, const Found& found) {
  fmt::print("{}: {} speeds of {} fronts, {} wrong, {} farther off than two standard errors\n", what, found.speeds,
             found.fronts, found.wrong, found.far);
}

/// Of programs with two or three delays within ten steps.
Speeds speeds_of_several(RandomWavePrograms& random, double most_noise, int programs, Told told) {
  Speeds found;
  for (int i = 0; i < programs; ++i) {
    ExactProgram program = random.next_with_several(false, 0);
    if (most_noise > 0) random.add_drawn_noise(program, most_noise);
    look_at_speeds(program, told, found);
  }
  print("leading edges", found.leading);
  print("trailing edges", found.trailing);
  print("in ranks a step", found.per_step);
  return found;
}

/// Share of walks of that many points that gain `drift` in each step, and by chance more or less, whose slope is told with
/// an error of which twice does not hold the drift.
double share_not_held(std::mt19937& random, std::size_t points) {
  constexpr int kWalks = 2000;
  constexpr double kDrift = 3;
  std::normal_distribution<> chance;
  int not_held = 0;
  for (int i = 0; i < kWalks; ++i) {
    std::vector<double> x{0}, y{0};
    while (x.size() < points) x.push_back(x.back() + 1), y.push_back(y.back() + kDrift + chance(random));
    const auto slope = waves::fitted_walk(x, y, std::vector<unsigned>(points));
    not_held += std::abs(slope->value - kDrift) > 2 * *slope->error;
  }
  return double(not_held) / kWalks;
}

/// The error was that of a variance known for certain: of three points 32 % lay farther off, of thirty 8 %.
TEST(WaveSpeed, HasAnErrorOfWhichTwiceHoldsTheTruthHoweverFewPointsThereAre) {
  std::mt19937 random(any_seed());
  for (const std::size_t points : {3u, 4u, 6u, 12u, 30u}) {
    EXPECT_LE(share_not_held(random, points), 0.065) << points;
    EXPECT_GE(share_not_held(random, points), 0.02) << points;
  }
}

/// One line through all points gave 151 of 571 fronts a false speed: that of 64 ranks/s was said to be 21 ± 4.
TEST(WaveSpeed, OfFrontsThatCrossOthersIsThatOfTheory) {
  for (const Told told : {Told{Holds::kAnnounced}, Told{Holds::kAnnounced, true}, Told{Holds::kUnannounced}}) {
    RandomWavePrograms random(any_seed());
    const Speeds found = speeds_of_several(random, 0, 60, told);
    for (const Found* each : {&found.leading, &found.trailing, &found.per_step}) {
      EXPECT_LE(each->wrong, each->speeds / 60);
      EXPECT_GE(each->speeds, each->fronts * 3 / 4);
    }
  }
}

/// Over 20 samples 1 % of the speeds at most were wrong, where rare noise came oftener, or more seldom, to where the front was
/// than elsewhere. Of 11 % at most twice the error was too little, and of 7 and 8 % of all leading and trailing edges (of 13 and
/// 18 % before their errors were widened for few points).
TEST(WaveSpeed, OfFrontsThatCrossOthersInNoiseIsRightWithinItsError) {
  for (const Holds holds : {Holds::kDelaysAnnounced, Holds::kUnannounced}) {
    RandomWavePrograms random(any_seed());
    const Speeds found = speeds_of_several(random, 0.02, 60, {holds});
    for (const Found* each : {&found.leading, &found.trailing, &found.per_step}) {
      EXPECT_LE(each->wrong, each->speeds / 25);
      EXPECT_LE(each->far, each->speeds / 5);
      EXPECT_GE(each->speeds, each->fronts * 3 / 4);
    }
  }
}

/// A delay no longer than noise comes on where noise happens to let it, as in the steps 1, 15, 21 and 35: a line through them was
/// told as 0.09 ± 0.02 ranks a step. Of 2,316 speeds in 40 samples 261 were off by more than half and three standard errors; now
/// 15 of 2,250.
TEST(WaveSpeed, OfAFrontThatNoiseHoldsUpForLongIsNone) {
  Found found;
  for (const bool memory : {false, true}) {
    RandomWavePrograms random(any_seed());
    for (int i = 0; i < 40; ++i) {
      ExactProgram program = random.next(memory, 0);
      program.delays = {random.delay(program, std::exp(random.real(std::log(0.1), std::log(1))))};
      random.add_drawn_noise(program, 0.1);
      const auto far = sigma_d(program);
      const auto timeline = test::timeline_of(program, simulate(program), {Holds::kDelaysAnnounced});
      for (const waves::Wave& wave : waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()}))
        for (const waves::WaveDirection* direction : {&wave.up, &wave.down}) {
          const double hop = direction->sign > 0 ? far.up : far.down;
          const auto& speed = direction->leading.ranks_per_step;
          if (direction->front.size() < 5 || waves::came_in_one_step(*direction)) continue;
          ++found.fronts;
          if (!speed) continue;
          ++found.speeds;
          found.wrong += std::abs(speed->value - hop) > std::max(0.5 * hop, 3 * speed->error.value_or(0));
        }
    }
  }
  print("in ranks a step", found);
  EXPECT_LE(found.wrong, 4);
  EXPECT_GE(found.speeds, found.fronts / 2);
}

/// Core-bound, steps of 10 ms.
ExactProgram steady_program(int ranks, std::vector<int> distances) {
  ExactProgram program;
  program.ranks = ranks;
  program.time = 0.01;
  program.steps = 300;
  program.communication.distances.assign(distances.begin(), distances.end());
  return program;
}

std::vector<waves::Wave> waves_of(const ExactProgram& program) {
  return waves::find_waves(test::timeline_of(program, simulate(program)), {Nanoseconds{0}, Nanoseconds::max()});
}

void expect_a_rank_a_step(const waves::WaveDirection& direction) {
  ASSERT_TRUE(direction.leading.ranks_per_step);
  EXPECT_NEAR(direction.leading.ranks_per_step->value, 1, 1e-9);
  for (const waves::Edge* edge : {&direction.leading, &direction.trailing}) {
    ASSERT_TRUE(edge->ranks_per_s);
    EXPECT_NEAR(edge->ranks_per_s->value, 100, 0.1);
    EXPECT_LT(*edge->ranks_per_s->error, 1);
  }
  EXPECT_FALSE(waves::runs_along_no_line(direction));
}

/// Whoever had come to one of two neighbours and not to the other, however long ago, was taken to hold up a front between them. A
/// ring of eight in which ranks had been late now and then for some minutes showed no speeds any more.
TEST(WaveSpeed, IsKnownLongAfterOthersHaveMetBetweenTheSameRanks) {
  ExactProgram program = steady_program(12, {-1, 1});
  for (int rank = 0; rank < 6; ++rank)
    for (const int late : {rank, rank + 6}) program.delays.push_back({late, 20 + 25 * rank, ms(50)});
  program.delays.push_back({3, 220, ms(200)});
  const auto waves = waves_of(program);
  ASSERT_EQ(waves.size(), 13);
  for (const waves::WaveDirection* direction : {&waves.back().up, &waves.back().down}) {
    EXPECT_GE(direction->front.size(), 5);
    expect_a_rank_a_step(*direction);
  }
}

/// Whom nobody makes wait stays as late as it was: from rank 10 on all are late by 50 ms here, and a front comes to them sooner.
TEST(WaveSpeed, IsRightWhereAnotherHasLeftRanksLateForGood) {
  ExactProgram program = steady_program(24, {1});
  program.communication.topology = support::Topology::kChain;
  program.delays = {{10, 20, ms(50)}, {3, 150, ms(200)}};
  const auto waves = waves_of(program);
  ASSERT_EQ(waves.size(), 2);
  EXPECT_EQ(waves.back().up.front.size(), 20);
  expect_a_rank_a_step(waves.back().up);
}

}  // namespace
}  // namespace idlewave::analysis
