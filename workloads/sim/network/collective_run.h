#pragma once
// Programs of calculations and collectives, run without a schedule: each rank is a small state machine.

#include <cstddef>

#include "probe/wire/result.h"
#include "workloads/sim/network/collective_program.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// Without noise each rank finishes at the same nanosecond as in goal_run.h with the schedule that RankPrograms makes
/// of the same program:
///
///   blocking:     for each step calc(work), call(collective)
///   nonblocking:  for each step start(collective), calc(work), wait
///   ideal:        for each step calc(work); the collective costs nothing (Widener et al. 2016, section 2.5)
///
/// where one processor does both of the nonblocking ones, so that messages go on between its calculations only. What
/// waits for a processor goes on in the order in which it was created, a message when it is sent. Of what was created
/// at the same nanosecond a rank's own goes first, then messages in the order of their senders; there, what the run
/// came to first. Only where that had to decide (`tied`), a finish may differ from the schedule's.
///
/// Noise that is drawn for each step comes after the work of the step. Interruptions take the processor from whatever
/// it does: what would begin at t begins at free_from(t), a message's overhead as well as work, and is extended by
/// `after`; of a message that is sent, the overhead o with what extends it comes before the flight of L. A delay is
/// over before the work begins.
///
/// How: what is sent takes at least o + L until it does anything, so until that long after the earliest moment at which
/// anyone may send, ranks are independent, and are visited one after another. Where o + L = 0, or messages are longer
/// than S (rendezvous, which holds the sender), all goes in the order of time instead, about twenty times as slowly.
/// Cost: a visit for each message sent; 136 bytes a rank, and 4 a rank where messages may pile up (rings and trees).
/// Error: what check_costs refuses; a program out of range; a run longer than 2^56 ns (2.3 years).
wire::Result<CollectiveRun> run(const CollectiveProgram& program, const support::LogGops& network,
                                const CollectiveOptions& options = {});

/// Memory that the run takes.
std::size_t bytes_needed(const CollectiveProgram& program);

}  // namespace idlewave::sim::network
