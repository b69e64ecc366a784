#pragma once
// Scenarios whose core-bound ranks call a collective in each step, without a schedule.

#include "workloads/sim/core/run.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// As run_on_network, with `events` the works done and messages received, and without averages of active ranks. A
/// recorder is called in the order of time for each rank, not of all ranks together.
wire::Result<core::Run> run_collectives(const support::Scenario& scenario, const core::RunOptions& options);

/// Memory that the run takes.
std::size_t bytes_of_collectives(const support::Scenario& scenario, const core::RunOptions& options);

}  // namespace idlewave::sim::network
