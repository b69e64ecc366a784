#pragma once
// The trials of one message size in one direction, as both ranks make them together.

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/progress/hidden_share.h"
#include "workloads/progress/options.h"

namespace idlewave::progress {

/// All trials with work that was meant to last equally long.
using Point = std::vector<Trial>;

struct Measurement {
  Direction direction{};
  int message_size = 0;
  std::vector<Point> points;  ///< With less work first; on rank 0, whose times these are.
};

/// `divisions_per_second`: of kernels::divide_chain on this core. Error, on the rank that found it: what was received is
/// not what was sent. Collective.
wire::Result<Measurement> measure(const Options& options, Direction direction, int message_size,
                                  double divisions_per_second, MPI_Comm ranks);

}  // namespace idlewave::progress
