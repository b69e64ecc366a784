#pragma once
// The contention domain on which a rank works.

#include <mpi.h>

#include "workloads/ranks/place.h"

namespace idlewave::ranks {

/// A contention domain; `id` is unique within a node.
struct Domain {
  wire::DomainId id = 0;
  Group group;
};

/// Virtual sockets are filled in the order of ranks. One that reaches over two nodes becomes two of the same id.
/// Collective.
Domain virtual_domain(MPI_Comm ranks, const Group& node, int ranks_per_domain);

/// The NUMA node on which this process runs now. Collective.
Domain numa_domain(const Group& node);

}  // namespace idlewave::ranks
