#include "workloads/sim/core/partners.h"

#include <algorithm>
#include <cstdlib>

namespace idlewave::sim::core {
namespace {

/// The shorter way round a ring: in (-ranks / 2, ranks / 2].
Rank shortest(Rank distance, Rank ranks) {
  const Rank forward = (distance % ranks + ranks) % ranks;
  return forward > ranks / 2 ? forward - ranks : forward;
}

}  // namespace

Partners::Partners(const support::Communication& communication, Rank ranks, bool rendezvous)
    : topology_(communication.topology), ranks_(ranks) {
  const bool split = communication.wait == support::WaitFlavour::kSplit;
  waits_on_.resize(split ? std::max<std::size_t>(1, communication.distances.size()) : 1);
  int stage = 0;
  for (const Rank distance : communication.distances) {
    add(stage, -distance);
    if (rendezvous) add(stage, distance);
    if (split) ++stage;
  }
}

void Partners::add(int stage, Rank distance) {
  if (topology_ == support::Topology::kRing) distance = shortest(distance, ranks_);
  if (distance == 0 || std::abs(distance) >= ranks_) return;
  auto& known = waits_on_[static_cast<std::size_t>(stage)];
  if (std::ranges::find(known, distance) != known.end()) return;
  known.push_back(distance);
  farthest_ = std::max(farthest_, std::abs(distance));
}

}  // namespace idlewave::sim::core
