#pragma once
// A simulation that is watched while it runs, and obeys.

#include "workloads/sim/main/parts.h"

namespace idlewave::sim {

/// Paces simulated time against the clock, streams what ranks do, and carries out the monitors' commands. Exit code.
int run_live(const Prepared& prepared, const Options& options);

}  // namespace idlewave::sim
