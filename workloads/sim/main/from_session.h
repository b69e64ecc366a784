#pragma once
// From life to model and back: the program of a recorded session, simulated.

#include "workloads/sim/main/options.h"

namespace idlewave::sim {

/// Derives the scenario of a recording, simulates it, and prints both side by side. Exit code.
int run_from_session(const Options& options);

}  // namespace idlewave::sim
