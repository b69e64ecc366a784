#include "tests/analysis/wave_truth.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::test {

using analysis::waves::FrontPoint;
using analysis::waves::Wave;
using analysis::waves::WaveDirection;
using tests::ExactProgram;
using tests::ExactRun;
using wire::Nanoseconds;
using wire::Rank;

namespace {

constexpr double kReached = 0.1;  ///< Of a step: who is later by less is not reached.
constexpr double kWaits = 0.05;
double waiting(const ExactRun& run, Rank rank, int step) {
  return end_of(run, rank, step) - run.work[std::size_t(rank)][std::size_t(step)].to;
}

}  // namespace

Truth truth_of(const ExactProgram& program, const ExactRun& run, std::size_t which, double typical_step) {
  ExactProgram without_it = program;
  without_it.delays.erase(without_it.delays.begin() + std::ptrdiff_t(which));
  const ExactRun without = simulate(without_it);
  const support::Delay& delay = program.delays[which];
  Truth truth;
  truth.late.resize(std::size_t(program.ranks));
  for (Rank rank = 0; rank < program.ranks; ++rank) {
    for (int step = 0; step < program.steps; ++step) {
      const double late = (end_of(run, rank, step) - end_of(without, rank, step)) / typical_step;
      truth.late[std::size_t(rank)].push_back(late);
      const double more = (waiting(run, rank, step) - waiting(without, rank, step)) / typical_step;
      if (rank != delay.rank && step >= delay.step && late >= kReached && more >= kWaits)
        truth.front.try_emplace(rank, step);
    }
  }
  return truth;
}
std::string words_of(const std::vector<Wave>& waves) {
  std::string words;
  for (const Wave& wave : waves)
    words += fmt::format("rank {}, step {}, {} ns {}; ", wave.origin_rank, wave.origin_step, wave.delay.count(),
                         to_words(wave.cause));
  return words;
}
namespace {

void judge(const ExactProgram& program, std::size_t which, const Wave& wave, const Truth& truth, Score& score) {
  ++score.waves;
  const int reach = wave.up.reach_ranks + wave.down.reach_ranks;
  const bool right = std::abs(reach - int(truth.front.size())) <= 2;
  score.reach_right += right;
  if (!right) fmt::print("reach {} of wave {}, in truth {}: {}\n", reach, which, truth.front.size(), words_of(program));
  for (const WaveDirection* direction : {&wave.up, &wave.down}) {
    for (const FrontPoint& point : direction->front) {
      ++score.points;
      const auto found = truth.front.find(point.rank);
      score.wrong_step += found == truth.front.end() || found->second != point.step;
      score.not_late += truth.late[std::size_t(point.rank)][std::size_t(point.step)] < 0.9 * kReached;
    }
  }
}

/// Noise that is exponential comes to so many times its mean in one step of 22,000, and whoever waits for that waits for
/// a rank that was late, by what it was longer than the median.
constexpr double kRare = 10;

bool is_of_rare_noise(const ExactRun& run, const Wave& wave) {
  double sum = 0;
  std::size_t steps = 0;
  for (const auto& of_rank : run.work)
    for (const auto& work : of_rank) sum += work.noise, ++steps;
  const auto& noises = run.work[std::size_t(wave.origin_rank)];
  if (wave.origin_step >= std::ssize(noises)) return false;
  const double mean = sum / double(steps), noise = noises[std::size_t(wave.origin_step)].noise;
  const double told = std::chrono::duration<double>(wave.delay).count();
  return noise > kRare * mean && std::abs(told - (noise - mean * std::log(2))) < mean;
}

void judge(const ExactProgram& program, Told told, Score& score) {
  const ExactRun run = simulate(program);
  const timeline::Timeline timeline = timeline_of(program, run, told);
  const auto waves = analysis::waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  const int others_before = score.others;
  for (const Wave& wave : waves) {
    const bool is_ordered = std::ranges::any_of(program.delays, [&](const support::Delay& delay) {
      return delay.rank == wave.origin_rank && delay.step == wave.origin_step;
    });
    score.others += !is_ordered && !is_of_rare_noise(run, wave);
  }
  score.with_others += score.others > others_before;
  if (waves.size() != program.delays.size()) fmt::print("others among {}in {}\n", words_of(waves), words_of(program));
  const double typical = double(analysis::steps::typical_step_length(timeline).count()) * 1e-9;
  for (std::size_t which = 0; which < program.delays.size(); ++which) {
    const support::Delay& delay = program.delays[which];
    const auto wave = std::ranges::find_if(
        waves, [&](const Wave& each) { return each.origin_rank == delay.rank && each.origin_step == delay.step; });
    const Truth truth = truth_of(program, run, which, typical);
    if (wave != waves.end()) {
      judge(program, which, *wave, truth, score);
    } else {
      ASSERT_EQ(told.holds, Holds::kUnannounced) << words_of(waves) << words_of(program);
      score.waves += !truth.front.empty();  // For whom somebody waits is to be found all the same.
    }
  }
}

}  // namespace

Score score_of(const RandomWavePrograms& random, const std::vector<ExactProgram>& programs, Told told) {
  Score score;
  for (const ExactProgram& program : programs) judge(program, told, score);
  fmt::print("{} waves, {} of right reach; {} points, {} not late, {} in another step; {} others; seed {}\n",
             score.waves, score.reach_right, score.points, score.not_late, score.wrong_step, score.others,
             random.seed());
  return score;
}

}  // namespace idlewave::test
