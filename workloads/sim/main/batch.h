#pragma once
// One run from its beginning to its end.

#include "workloads/sim/main/parts.h"

namespace idlewave::sim {

/// Simulates, records if asked to, prints the result. Exit code.
int run_batch(const Prepared& prepared, const Options& options);

}  // namespace idlewave::sim
