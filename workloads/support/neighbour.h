#pragma once
// Who talks to whom.

#include <optional>

#include "workloads/support/scenario.h"

namespace idlewave::support {

/// The rank at `distance` from `rank` (negative: towards 0). Nothing where that leads outside a chain or to the rank
/// itself.
inline std::optional<Rank> neighbour(Topology topology, Rank ranks, Rank rank, Rank distance) {
  const std::int64_t there = std::int64_t{rank} + distance;
  const std::int64_t wrapped = ((there % ranks) + ranks) % ranks;
  if (wrapped == rank || (topology == Topology::kChain && wrapped != there)) return std::nullopt;
  return static_cast<Rank>(wrapped);
}

}  // namespace idlewave::support
