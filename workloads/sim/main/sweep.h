#pragma once
// The same scenario with other values, many times.

#include "workloads/sim/main/options.h"

namespace idlewave::sim {

/// Fills in what the scenario's [study] says. Error: it has none, or one that can't be taken.
wire::Status take_study(Options& options);

/// One run for each combination of values, on all cores; prints one row for each, in order, whatever the number of cores. Exit code.
int run_sweep(const Options& options);

}  // namespace idlewave::sim
