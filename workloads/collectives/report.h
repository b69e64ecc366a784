#pragma once
// What iw-collectives finds and prints.

#include <mpi.h>

#include <string>
#include <vector>

#include "workloads/collectives/steps.h"

namespace idlewave::collectives {

/// One run, of all ranks. Seconds.
struct Outcome {
  double makespan = 0;         ///< Of the slowest rank.
  double work_mean = 0;        ///< Of a rank.
  double collective_mean = 0;  ///< Of a rank.
  double bound = 1;            ///< Speed-up by overlap with one stretch of work, at most; the largest of all ranks.
  std::uint64_t wrong = 0;
};

/// Collective.
Outcome outcome_of(const Measured& own, MPI_Comm ranks);

/// A collective with a noise, both ways.
struct Comparison {
  std::string collective;
  std::string noise;
  Outcome blocking;
  Outcome nonblocking;
  double slowdown_blocking = 1;  ///< Against the same without noise.
  double slowdown_nonblocking = 1;
};

std::string report(const Options& options, int ranks, bool asleep, const std::vector<Comparison>& comparisons);

}  // namespace idlewave::collectives
