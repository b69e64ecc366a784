#pragma once
// Where a rank runs: its node, its core.

#include <mpi.h>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::ranks {

/// Ranks that share something, as a communicator that lives as long as the program.
struct Group {
  MPI_Comm ranks = MPI_COMM_NULL;
  int rank = 0;  ///< Of this process in it.
  int size = 0;
};

Group group_of(MPI_Comm ranks);

/// The ranks on this node. Collective.
Group node_of(MPI_Comm ranks);

/// Those of `ranks` that give the same colour, in their order. Collective.
Group part_of(MPI_Comm ranks, int colour);

/// Binds each rank to so many cores, in turn over those that it may use; does nothing if the launcher has given the ranks
/// different cores already. Threads that come later have the same. Collective over the node.
void pin_in_turn(const Group& node, int cores = 1);

/// Whether this process may use so many cores.
wire::Status check_cores(int threads);

/// Returns at the same moment on all ranks of a node, as far as the scheduler lets it; that moment. Collective.
wire::Nanoseconds start_together(MPI_Comm ranks, const Group& node);

}  // namespace idlewave::ranks
