#pragma once
// What iw-heat prints.

#include <string>
#include <vector>

#include "workloads/heat/options.h"

namespace idlewave::heat {

/// A size with a memory.
struct Run {
  Square square;
  Memory memory = Memory::kMessages;
  double step = 0;           ///< Seconds, of the process that took longest.
  double communication = 0;  ///< Share of all processes' time.
  double messages = 0;       ///< Or one-sided transfers of a process in a step, on average.
  double bytes = 0;          ///< The same.
  double error = 0;          ///< Largest of a point.
};

std::string table(const Options& options, int processes, const std::vector<Run>& runs);  ///< Lines that end.

std::string json(const Options& options, int processes, const std::vector<Run>& runs);

}  // namespace idlewave::heat
