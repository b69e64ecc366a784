#pragma once
// A scenario on contention domains from its beginning to its end, as fast as it goes.

#include "workloads/sim/core/run.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::contention {

/// By the event engine if the scenario is memory-bound, else by the sweep. The same scenario and noise give the same
/// run to the last bit. A recorder of a core-bound run is called in the order of time for each rank only. Run::events:
/// moments of a domain; of a core-bound run, posts. Error: what model_of refuses, an option that is out of range, or
/// that the run is longer than kLongestRun.
wire::Result<core::Run> run(const support::Scenario& scenario, const core::RunOptions& options);

/// Averages of a run that `run` has made of the same scenario and noise, for callers that time the two apart: the
/// window is known only when the makespan is. Costs another run up to the window's end. `window` is one that `run`
/// would take. Empty: ended by `stop`.
std::vector<double> active_means(const support::Scenario& scenario, const core::PhaseNoise* noise, const core::Run& run,
                                 core::Fractions window, const std::atomic<bool>* stop = nullptr);

/// Memory that the run will take, to say so before it starts. Error as above.
wire::Result<std::size_t> bytes_needed(const support::Scenario& scenario, const core::RunOptions& options);

}  // namespace idlewave::sim::contention
