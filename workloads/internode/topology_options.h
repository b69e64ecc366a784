#pragma once
// The command line of iw-topology.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/internode/mapping.h"
#include "workloads/internode/network_flags.h"
#include "workloads/internode/text.h"

namespace idlewave::internode {

struct TopologyOptions {
  Grid grid{{2, 8}};
  std::vector<Mapping> mappings{Mapping::kRoundRobin, Mapping::kSequential, Mapping::kBest};
  int ranks_per_node = 0;    ///< 0: those that are on one.
  int ranks_per_socket = 0;  ///< 0: those of a node.
  int message_size = 10'000;
  std::int64_t steps = 20;  ///< Of each mapping.
  Network network;
  bool json = false;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<TopologyOptions, Text>> parse_topology(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::internode
