#pragma once
// Scenarios whose ranks call a collective in each step, on the engine of workloads/sim/network.

#include "workloads/sim/contention/model.h"
#include "workloads/sim/contention/run.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

inline bool has_collective(const support::Scenario& scenario) { return scenario.communication.collective.has_value(); }

/// As `run` of contention/run.h, with `events` the works done and messages received. Averages of active ranks are not
/// taken; a recorder is called in the order of time for each rank, not of all ranks together.
wire::Result<Run> run_collectives(const support::Scenario& scenario, const RunOptions& options);

/// Memory that the run takes.
std::size_t bytes_of_collectives(const support::Scenario& scenario, const RunOptions& options);

/// What a session tells of the machine and of the work, without the communication.
wire::Result<Model> model_of_work(const support::Scenario& scenario);

}  // namespace idlewave::sim
