#pragma once
// The filter on all ranks.

#include <optional>

#include "workloads/chebfd/figures.h"
#include "workloads/chebfd/options.h"
#include "workloads/kernels/virtual_socket.h"
#include "workloads/ranks/place.h"

namespace idlewave::chebfd {

/// Whoever measures, and as what.
struct Bench {
  const Options& options;
  ranks::Group ranks;
  ranks::Group node;               ///< Those of them that share this one's memory.
  kernels::VirtualSocket* socket;  ///< Null for real work.
};

/// Nothing after a failure, which has been reported. Rank 0 alone has the figures of all. Collective.
std::optional<Run> measure(const Bench& bench);

}  // namespace idlewave::chebfd
