#pragma once
// The bulk-synchronous program of a scenario as a GOAL schedule.

#include <cstddef>

#include "probe/wire/result.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/sim/network/memory_domains.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

using core::Model;

/// What a scenario says beside its network and its collective, as a session tells it: machine, work, delays.
wire::Result<Model> model_beside_network(const support::Scenario& scenario);

/// Its network, with S so that protocol "eager" or "rendezvous" holds whatever the messages' size.
support::LogGops network_of(const support::Communication& communication);

/// What work on the scenario's machine is to the engine: core-bound ranks share nothing.
struct BulkWork {
  std::uint64_t nanoseconds = 0;  ///< Of a rank that is alone on its domain, rounded up.
  MemoryDomains memory;           ///< Its speeds make up for the rounding.
};
/// Error: work or a message that no operation can hold.
wire::Result<BulkWork> work_of(const support::Scenario& scenario, const Model& model);

/// For each rank and step: its delay if there is one, an idle calculation; the work, a calculation; and for each stage
/// (one, or with split waits one for each distance) the sends and receives, which wait for all of the stage before, as
/// the next step's begin waits for all of the last; or, with a collective, its rounds, behind the work or beside it.
/// Calculations have the step as tag. At the end an idle calculation
/// of 0 ns with the number of steps as tag, which begins when the rank's last wait is over. A message of 0 B is sent as
/// one of 1 B. Error: more operations than a schedule can hold.
wire::Result<GoalSchedule> bulk_schedule(const support::Scenario& scenario, const BulkWork& work);

/// Memory that making the schedule and running it takes, apart from messages under way. Error: as bulk_schedule.
wire::Result<std::size_t> bytes_for_bulk(const support::Scenario& scenario, const BulkWork& work);

}  // namespace idlewave::sim::network
