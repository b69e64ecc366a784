#pragma once
// When each rank posted its last few messages: needed where a message takes time and a receiver may come late.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::sim::contention {

using wire::Rank;

/// A ring of times for each rank. It starts with kDepth places and doubles for a rank that runs further ahead of its
/// receivers, as a sender without a partner to wait for does.
class PostTimes {
 public:
  static constexpr std::int32_t kDepth = 4;

  explicit PostTimes(Rank ranks)
      : near_(static_cast<std::size_t>(ranks) * kDepth), far_(near_.size() / kDepth, false) {}

  double at(Rank rank, std::int32_t post) const {
    if (!far_[static_cast<std::size_t>(rank)]) return near_[near_slot(rank, post)];
    const auto& ring = rings_.find(rank)->second;
    return ring[static_cast<std::size_t>(post) & (ring.size() - 1)];
  }

  /// `oldest`: the first post of this rank that some receiver has yet to look at; those before it are forgotten.
  void put(Rank rank, std::int32_t post, std::int32_t oldest, double time) {
    if (!far_[static_cast<std::size_t>(rank)] && post - oldest < kDepth) {
      near_[near_slot(rank, post)] = time;
    } else {
      put_far(rank, post, oldest, time);
    }
  }

  static std::size_t bytes_for(Rank ranks) { return static_cast<std::size_t>(ranks) * (kDepth * sizeof(double) + 1); }

 private:
  static std::size_t near_slot(Rank rank, std::int32_t post) {
    return static_cast<std::size_t>(rank) * kDepth + (static_cast<std::size_t>(post) & (kDepth - 1));
  }
  void put_far(Rank rank, std::int32_t post, std::int32_t oldest, double time);

  std::vector<double> near_;
  std::vector<std::uint8_t> far_;
  std::unordered_map<Rank, std::vector<double>> rings_;  // of those with far_; sizes are powers of two
};

}  // namespace idlewave::sim::contention
