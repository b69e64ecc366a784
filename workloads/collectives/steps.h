#pragma once
// A run of steps, each with work and a collective.

#include <mpi.h>

#include "workloads/collectives/options.h"
#include "workloads/ranks/place.h"
#include "workloads/sim/core/phase_noise.h"

namespace idlewave::collectives {

struct Run {
  Collective collective = Collective::kAllreduce;
  bool nonblocking = false;
  const sim::core::PhaseNoise* noise = nullptr;  ///< Null: silence. Its time begins with the run.
};

/// What one rank had of a run.
struct Measured {
  Nanoseconds total{};
  Nanoseconds work{};        ///< W of widener-2016, eq. 1: with the noise of this rank.
  Nanoseconds collective{};  ///< c + n: with what others were late by.
  std::uint64_t wrong = 0;   ///< Elements of all results that were not what they must be.
};

/// The runs of a program, one after another; their steps go on counting.
class Steps {
 public:
  Steps(const Options& options, MPI_Comm ranks);

  /// Two silent steps before the run, which nobody counts. Collective.
  Measured run(const Run& run);

  bool waits_asleep() const { return asleep_; }

 private:
  const Options& options_;
  MPI_Comm ranks_;
  ranks::Group world_;
  ranks::Group node_;
  bool asleep_;
  Step step_ = 0;
};

}  // namespace idlewave::collectives
