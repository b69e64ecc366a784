#pragma once
// A GOAL schedule from a file.

#include "workloads/sim/main/parts.h"

namespace idlewave::sim {

/// Reads, runs, prints. Exit code: 1 for a deadlock, whose ranks are named.
int run_goal(const Options& options);

}  // namespace idlewave::sim
