#pragma once
// Whom ranks wait for in a collective.

#include "workloads/sim/core/wait_table.h"

namespace idlewave::sim::network {

/// What the ranks of a scenario with a collective call in each step. In a tree a rank waits for all that lie between it
/// and the root, or below it. Nothing is said of a tree by rendezvous, where sends wait for one another as well, nor of a
/// collective that is started before the work: its wait depends on when others began their work, not on when they ended
/// it.
core::WaitTable waits_of_collective(const support::Communication& communication, core::Rank ranks);

/// Messages of that size end only when their receivers are there.
bool goes_by_rendezvous(const support::Communication& communication);

}  // namespace idlewave::sim::network
