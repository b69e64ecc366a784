#pragma once
// What iw-ring prints: with --json, and of a series.

#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "workloads/ring/run.h"

namespace idlewave::ring {

/// A contention domain.
struct DomainFigures {
  int id = 0;
  int first_rank = 0;
  int ranks = 0;
  double active_mean = 0;  ///< Over the window.
  double core_bandwidth = 0;
  double saturated_bandwidth = 0;
};

/// A run. Seconds.
struct Figures {
  int ranks = 0;
  int threads = 1;  ///< Of a rank.
  Step steps = 0;
  double makespan = 0;
  double compute = 0;  ///< In a step, mean of all ranks.
  bool eager = false;
  std::vector<DomainFigures> domains;

  double step() const { return makespan / static_cast<double>(std::max<Step>(steps, 1)); }
};

/// On rank 0; of no use elsewhere. Collective.
Figures gathered(const Options& options, MPI_Comm ranks, const Work& work, const RunResult& result, bool eager);

std::string json(const Figures& figures);

/// Of each number of ranks on a socket in `options.series`, in its order.
std::string series_json(const Options& options, const std::vector<Figures>& runs);
std::string series_table(const Options& options, const std::vector<Figures>& runs);  ///< Lines that end.

}  // namespace idlewave::ring
