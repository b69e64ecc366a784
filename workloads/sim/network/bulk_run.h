#pragma once
// A scenario whose ranks exchange messages with their neighbours, or call collectives, on a LogGOPS network, from its
// beginning to its end.

#include <atomic>
#include <memory>

#include "probe/wire/result.h"
#include "workloads/sim/core/run.h"
#include "workloads/sim/network/simulation.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// As contention::run, for a scenario with LogGOPS parameters, by the rules of goal_run.h: work and
/// messages occupy a rank's processor, so a message that arrives while its receiver works is dealt with afterwards. A
/// step begins when its delay or its work does. Times are whole nanoseconds; ends of work are rounded up. With L = T
/// and the rest 0, eager messages take time as with the transfer time T; a rendezvous is over when the receive is
/// posted and T after the send is, while the transfer time T begins when both are. Run::events: moments of the engine.
/// Of a run that was stopped there are no averages.
wire::Result<core::Run> run_on_network(const support::Scenario& scenario, const core::RunOptions& options);

/// The same run, as far as it is told to. `recorder`, `noise` (null: silent) and `stop` (which may be null, and ends the
/// run with what it has) outlive it. Error as above.
wire::Result<std::unique_ptr<Simulation>> simulate_on_network(const support::Scenario& scenario,
                                                              core::Recorder& recorder, const core::PhaseNoise* noise,
                                                              const std::atomic<bool>* stop);

/// Memory that the run will take: of all its steps at once. Error as above.
wire::Result<std::size_t> bytes_on_network(const support::Scenario& scenario);

}  // namespace idlewave::sim::network
