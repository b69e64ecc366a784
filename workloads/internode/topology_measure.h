#pragma once
// A grid of processes that exchange messages with their neighbours.

#include "workloads/internode/network.h"
#include "workloads/internode/topology.h"

namespace idlewave::internode {

/// `step`: that the probe is told; goes on counting. `network`: null where MPI's own time is measured. The same on all
/// ranks. Collective.
MappingRun measure_mapping(Mapping mapping, const TopologyOptions& options, const Machine& machine,
                           const ranks::Group& world, const Seat& seat, VirtualNetwork* network, std::int64_t& step);

}  // namespace idlewave::internode
