#pragma once
// For whom a rank waits in each stage of a step's communication, and who waits for it.

#include <span>
#include <vector>

#include "workloads/support/neighbour.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::core {

using support::Rank;

/// The same distances for every rank, each partner once. Immutable.
class Partners {
 public:
  Partners(const support::Communication& communication, Rank ranks, bool rendezvous);

  int stages() const { return static_cast<int>(waits_on_.size()); }  ///< At least 1; with split waits one per distance.
  /// Distances to those whose post ends the wait: senders; with rendezvous receivers too. In a ring the shorter way.
  std::span<const Rank> waits_on(int stage) const { return waits_on_[static_cast<std::size_t>(stage)]; }
  support::Topology topology() const { return topology_; }
  Rank farthest() const { return farthest_; }  ///< Largest absolute distance.

  template <class F>
  void for_each_awaited(Rank rank, int stage, F&& f) const {
    for_each(waits_on_[static_cast<std::size_t>(stage)], rank, +1, f);
  }
  template <class F>
  void for_each_waiter(Rank rank, int stage, F&& f) const {
    for_each(waits_on_[static_cast<std::size_t>(stage)], rank, -1, f);
  }

 private:
  template <class F>
  void for_each(const std::vector<Rank>& distances, Rank rank, Rank sign, F& f) const {
    if (rank >= farthest_ && rank < ranks_ - farthest_) {
      for (const Rank distance : distances) f(rank + sign * distance);
      return;
    }
    for (const Rank distance : distances) {
      if (const auto there = support::neighbour(topology_, ranks_, rank, sign * distance)) f(*there);
    }
  }
  void add(int stage, Rank distance);

  support::Topology topology_;
  Rank ranks_;
  Rank farthest_ = 0;
  std::vector<std::vector<Rank>> waits_on_;  // [stage]
};

}  // namespace idlewave::sim::core
