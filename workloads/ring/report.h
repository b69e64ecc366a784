#pragma once
// What `iw-ring --json` prints.

#include <mpi.h>

#include <string>

#include "workloads/ring/run.h"

namespace idlewave::ring {

/// The JSON text on rank 0, an empty one elsewhere. Collective.
std::string report(const Options& options, MPI_Comm ranks, const Work& work, const RunResult& result, bool eager);

}  // namespace idlewave::ring
