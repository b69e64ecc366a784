#pragma once
// Which engine a scenario runs on: contention domains; a LogGOPS network, with memory domains; or, faster, collectives
// of core-bound ranks.

#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/contention/model.h"
#include "workloads/sim/contention/run.h"
#include "workloads/sim/main/parts.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

enum class Engine { kContention, kNetwork, kCollectives };
Engine engine_of(const support::Scenario& scenario);

/// Ranks, domains and work, whatever the communication; as a session tells it. Error: what the engine refuses.
wire::Result<Model> model_for(const support::Scenario& scenario);

/// Error: as run(), run_on_network() and run_collectives().
wire::Result<Run> run_scenario(const support::Scenario& scenario, const RunOptions& options);

/// Run::active_means of a run that was made without them, by running once more; none if that is interrupted.
wire::Result<std::vector<double>> active_means_of(const Prepared& prepared, const Run& run, Fractions window);

/// Fails if the run needs more memory than there is in the machine, or than this process may use. Error: also what the
/// engine refuses.
wire::Status check_memory(const support::Scenario& scenario, const RunOptions& options);

}  // namespace idlewave::sim
