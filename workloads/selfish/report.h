#pragma once
// What iw-selfish prints.

#include <mpi.h>

#include <string>

#include "workloads/selfish/detours.h"
#include "workloads/selfish/options.h"

namespace idlewave::selfish {

/// What one rank has found.
struct Finding {
  Rhythm rhythm;
  Nanoseconds threshold{};
  int core = 0;  ///< On which the rank was when it ended.
  Measurement measured;
};

/// Text or JSON on rank 0, nothing elsewhere. Collective.
std::string report(const Options& options, MPI_Comm ranks, const Finding& own);

}  // namespace idlewave::selfish
