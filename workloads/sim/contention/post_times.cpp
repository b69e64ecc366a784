#include "workloads/sim/contention/post_times.h"

#include <algorithm>

namespace idlewave::sim::contention {

void PostTimes::put_far(Rank rank, std::int32_t post, std::int32_t oldest, double time) {
  std::vector<double>& ring = rings_[rank];
  const auto needed = static_cast<std::size_t>(post - oldest) + 1;
  if (needed > ring.size()) {
    std::vector<double> larger(std::max<std::size_t>(2 * kDepth, 2 * ring.size()));
    for (std::int32_t kept = oldest; kept < post; ++kept) {
      larger[static_cast<std::size_t>(kept) & (larger.size() - 1)] = at(rank, kept);
    }
    ring = std::move(larger);
    far_[static_cast<std::size_t>(rank)] = true;
  }
  ring[static_cast<std::size_t>(post) & (ring.size() - 1)] = time;
}

}  // namespace idlewave::sim::contention
