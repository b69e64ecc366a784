#pragma once
// Where ranks that had nothing to do meet those that did.

#include <mpi.h>

#include <cstdint>

namespace idlewave::ranks {

/// The largest of what all give. Whoever waits leaves its core to those that still work. Collective.
std::int64_t largest_asleep(std::int64_t own, MPI_Comm ranks);

}  // namespace idlewave::ranks
