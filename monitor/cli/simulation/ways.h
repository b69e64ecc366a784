#pragma once
// The ways to simulate, one file each. All return the exit code.

#include "monitor/cli/simulation/command_line.h"

namespace idlewave::cli::simulation {

/// Simulates, records if asked to, prints the result.
int run(const ScenarioOptions& options);
/// Prints a row for each run.
int run(const SweepOptions& options);
/// Paces simulated time against the clock, streams what ranks do, and carries out the monitors' commands.
int run(const LiveOptions& options);
/// Prints when each rank of a schedule is done.
int run(const ScheduleOptions& options);
/// As a live scenario's, but that there is nothing to command; names what waits for ever.
int run(const LiveScheduleOptions& options);
/// Derives the scenario of a recording, simulates it, and prints both side by side.
int run(const SessionOptions& options);

}  // namespace idlewave::cli::simulation
