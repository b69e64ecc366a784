#pragma once
// Scenarios whose core-bound ranks call a collective in each step, without a schedule.

#include <atomic>
#include <memory>

#include "workloads/sim/core/run.h"
#include "workloads/sim/network/simulation.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// As run_on_network, with `events` the works done and messages received, and without averages of active ranks. A
/// recorder is called in the order of time for each rank, not of all ranks together.
wire::Result<core::Run> run_collectives(const support::Scenario& scenario, const core::RunOptions& options);

/// As simulate_on_network, of the same run.
wire::Result<std::unique_ptr<Simulation>> simulate_collectives(const support::Scenario& scenario,
                                                               core::Recorder& recorder, const core::PhaseNoise* noise,
                                                               const std::atomic<bool>* stop);

/// Memory that the run takes.
std::size_t bytes_of_collectives(const support::Scenario& scenario, const core::RunOptions& options);

}  // namespace idlewave::sim::network
