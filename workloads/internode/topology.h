#pragma once
// What of a mapping was worked out, counted and seen, and what iw-topology prints of it.

#include <string>
#include <vector>

#include "workloads/internode/topology_options.h"

namespace idlewave::internode {

struct MappingRun {
  Mapping mapping = Mapping::kRoundRobin;
  Links links;             ///< In closed form.
  Links counted;           ///< One by one.
  Links sent;              ///< As messages, both ways and in all steps, seen by who sent them.
  double step = 0;         ///< Seconds, of the slowest process.
  std::int64_t wrong = 0;  ///< Messages.
};

/// Whether all three ways to count agree.
bool agree(const MappingRun& run, std::int64_t steps);

std::string table(const TopologyOptions& options, const Machine& machine, const std::vector<MappingRun>& runs);

std::string json(const TopologyOptions& options, const Machine& machine, const std::vector<MappingRun>& runs);

}  // namespace idlewave::internode
