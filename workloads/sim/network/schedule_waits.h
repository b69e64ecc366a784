#pragma once
// Whom the ranks of a GOAL schedule wait for.

#include "workloads/sim/core/wait_table.h"
#include "workloads/sim/network/schedule_simulation.h"

namespace idlewave::sim::network {

/// A step is what a rank does from one calculation to the next. Messages that it receives there one after another are
/// waits one after another. Nothing is said of a schedule without steps, of one that receives from whoever sends, and
/// of one whose calculations do not follow one another. Costs in proportion to operations.
core::WaitTable waits_of(const ScheduledProgram& program);

}  // namespace idlewave::sim::network
