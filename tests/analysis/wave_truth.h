#pragma once
// Waves held against the truth: the slow simulation run twice, with a delay and without it. Who ends a step later, and
// waits longer, because of the delay has been reached.

#include <map>
#include <string>
#include <vector>

#include "monitor/analysis/waves/waves.h"
#include "tests/analysis/random_wave_programs.h"
#include "tests/analysis/told_run.h"

namespace idlewave::test {

/// The step in which each rank was reached.
using Front = std::map<wire::Rank, int>;

struct Truth {
  Front front;
  /// [rank][step] in steps: how much later it ended.
  std::vector<std::vector<double>> late;
};
/// Of the delay at that place in the program's.
Truth truth_of(const tests::ExactProgram& program, const tests::ExactRun& run, std::size_t which, double typical_step);

/// How waves of many programs were found.
struct Score {
  int waves = 0, reach_right = 0, points = 0, not_late = 0, wrong_step = 0;
  int others = 0;       ///< Told of programs whose delays are none of their causes, and neither is a rare noise.
  int with_others = 0;  ///< Programs that have such.

  Score& operator+=(const Score& more) {
    waves += more.waves, reach_right += more.reach_right, points += more.points, not_late += more.not_late;
    wrong_step += more.wrong_step, others += more.others, with_others += more.with_others;
    return *this;
  }
};
std::string words_of(const std::vector<analysis::waves::Wave>& waves);

/// Of all delays of these programs. Prints what is wrong.
Score score_of(const RandomWavePrograms& random, const std::vector<tests::ExactProgram>& programs, Told told);

}  // namespace idlewave::test
