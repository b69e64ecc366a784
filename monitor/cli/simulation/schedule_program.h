#pragma once
// The GOAL schedule that a command line names, on what it runs.

#include <cstddef>
#include <optional>

#include "monitor/cli/simulation/command_line.h"
#include "probe/wire/result.h"
#include "workloads/sim/network/schedule_simulation.h"
#include "workloads/sim/simulator.h"

namespace idlewave::cli::simulation {

/// Of a schedule that was extrapolated.
struct Origin {
  Rank ranks = 0;
  /// That were found and written anew.
  std::size_t collectives = 0;
};

struct GivenSchedule {
  sim::network::ScheduledProgram program;
  std::optional<Origin> origin;
};

/// Error: one line; also if the memory of this machine would not hold the schedule.
wire::Result<GivenSchedule> given_by(const ScheduleSource& source);

/// How a session shows the ranks of a schedule.
struct Stage {
  support::Scenario scenery;
  sim::core::Model model;
  sim::core::WaitTable waits;
};

/// Error: why no session can.
wire::Result<Stage> stage_of(const sim::network::ScheduledProgram& program);

/// A line on stderr for each of the first that wait for ever.
void name_the_stuck(const sim::network::GoalRun& run);

}  // namespace idlewave::cli::simulation
