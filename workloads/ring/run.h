#pragma once
// The steps of one rank.

#include <mpi.h>

#include "workloads/ring/activity_log.h"
#include "workloads/ring/exchange.h"
#include "workloads/ring/options.h"
#include "workloads/ring/work.h"
#include "workloads/sim/noise/make_noise.h"

namespace idlewave::ring {

struct RunResult {
  Span time;  ///< From the common start to this rank's end.
  Step steps = 0;
  ActivityLog activity;  ///< Kept only with --json, and of a series.
};

/// Steps that nobody counts, each with a barrier (afzal-2020, section 2.2). Collective.
void warm_up(const Options& options, MPI_Comm ranks, const Work& work, Exchange& exchange);

/// The steps that count, told to the probe, whose number of the first one is `first`. `noise`: null for none. `start`:
/// when they begin. Collective.
RunResult run(const Options& options, MPI_Comm ranks, const Work& work, Exchange& exchange,
              const sim::core::PhaseNoise* noise, Nanoseconds start, Step first);

}  // namespace idlewave::ring
