#pragma once
// What is measured of a mode, and what theory makes of it.

#include <optional>
#include <vector>

#include "workloads/hybrid/options.h"

namespace idlewave::hybrid {

/// One process. Seconds of a step, on average.
struct RankFigures {
  double step = 0;
  double communication = 0;  ///< Of the threads that communicate, the one that took longest; waiting included.
  double work = 0;           ///< Of all threads on points that may depend on messages.
  double error = 0;          ///< Largest of a point.
  double inner = 0;          ///< Of its points those that depend on no message, 0 to 1.
};

struct Run {
  Way way;
  std::vector<RankFigures> ranks;
};

double step_time(const Run& run);  ///< Of the slowest process.
double largest_error(const Run& run);

/// Shares of the time of masteronly, over all processes.
struct Shares {
  double communication = 0;
  double overlap = 0;  ///< Work that could be done beside it.
};
Shares shares_of(const Run& masteronly);

/// How many times as fast as masteronly a run is, and should be by rabenseifner-2007; nothing where masteronly was not
/// measured.
struct Ratio {
  double measured = 0;
  double theory = 0;
};
std::optional<Ratio> ratio_of(const Run& run, const std::vector<Run>& runs, int threads);

}  // namespace idlewave::hybrid
