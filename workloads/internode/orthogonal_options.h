#pragma once
// The command line of iw-orthogonal.

#include <cstdint>
#include <variant>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/internode/network_flags.h"
#include "workloads/internode/text.h"

namespace idlewave::internode {

struct OrthogonalOptions {
  int ranks_per_node = 0;          ///< 0: those that are on one.
  std::vector<int> sizes;          ///< Bytes of a message of pure MPI, ascending.
  std::vector<int> communicating;  ///< Processes of a node; empty: 1, 2, 4 and so on, and all of them.
  std::int64_t rounds = 10;
  Network network;
  bool json = false;
};

/// `ranks`: the size of the job. Error: the first argument that can't be used, and what could.
wire::Result<std::variant<OrthogonalOptions, Text>> parse_orthogonal(int argc, const char* const* argv, int ranks);

}  // namespace idlewave::internode
