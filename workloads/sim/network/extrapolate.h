#pragma once
// From the schedule of p ranks to that of K p: "exact for collectives, approximate for point-to-point" (Widener, Levy,
// Ferreira, Hoefler: "On Noise and the Performance Benefit of Nonblocking Collectives", IJHPCA 30, 2016, section 2.2,
// of LogGOPSim).

#include <cstdint>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/network/collectives.h"
#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::sim::network {

/// The collectives of a schedule.
struct FoundCollectives {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::vector<CollectiveCall> calls;
  std::vector<std::uint32_t> of_op;  ///< By operation: which of `calls` it belongs to; kNone.
};

/// A collective is where the next messages of one tag on every rank are those of one of the algorithms in
/// collectives.h, in its order; each but those of the first round waits for others of it only, and each send for one at
/// least. Between collectives of one tag all ranks may have equally many other messages of that tag. Of p = 1 or 2
/// ranks none is found, since any exchange could be one. What can't be told apart: a barrier is an allreduce of 1 B; of
/// 3 ranks a scatter is a broadcast, a gather a reduction and an allgather by Bruck one by dissemination; two
/// allgathers round the ring, of one tag and without anything in between, are an allreduce; and an allreduce round the
/// ring is taken to be of p times the bytes of its messages. Cost: O(operations) and what the collectives found have,
/// times the number of algorithms. 12 bytes an operation and 4 a dependence.
FoundCollectives find_collectives(const GoalSchedule& schedule);

/// Upper bound of the operations that the schedule for `factor` times as many ranks has.
double ops_of_extrapolation(const GoalSchedule& schedule, const FoundCollectives& found, Rank factor);

/// Rank r + j p does what rank r does, 0 <= j < factor. Collectives are written anew for all ranks, with their bytes
/// and the root that they have. Any other message keeps its distance round the ring of ranks, the shorter way, seen
/// from its sender (upwards if both are as short), so that the neighbours in a ring of p become those in a ring of
/// factor p. What waited for a part of a collective waits for its rank's last round. Error: factor below 1, more than
/// kMaxOps operations or 10^8 ranks.
wire::Result<GoalSchedule> extrapolate(const GoalSchedule& schedule, const FoundCollectives& found, Rank factor);

}  // namespace idlewave::sim::network
