#pragma once
// The orthogonal exchange on all processes.

#include <optional>

#include "workloads/internode/network.h"
#include "workloads/internode/orthogonal.h"

namespace idlewave::internode {

/// `network`: null where MPI's own time is measured. The same on all ranks. Collective.
Figures measure_orthogonal(const OrthogonalOptions& options, const ranks::Group& world, const Seat& seat,
                           VirtualNetwork* network);

}  // namespace idlewave::internode
