#pragma once
// Ranks that are taken for those of a node.

#include <fmt/format.h>

#include "workloads/ranks/flags.h"

namespace idlewave::internode {

inline constexpr int kMostRanksPerNode = 100'000;

inline void add_ranks_per_node(arguments::CommandLine& app, int& number) {
  ranks::add(app, "--ranks-per-node", number, ranks::whole<int, 1, kMostRanksPerNode>,
             "So many ranks, in their order, are taken for those of a node. [those that are on one]")
      .type_name("N");
}

inline wire::Status check_ranks_per_node(int number, int ranks) {
  if (number == 0 || ranks % number == 0) return wire::ok();
  return wire::Error{fmt::format("--ranks-per-node: {} does not divide the {} ranks of the job", number, ranks)};
}

}  // namespace idlewave::internode
