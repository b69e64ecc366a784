#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::sim::network {

/// When each rank's processors and interfaces are free.
class RankClocks {
 public:
  RankClocks(const GoalSchedule& schedule, std::span<const std::int64_t> start)
      : cpus_(std::size_t(schedule.cpus())),
        stride_(cpus_ + 2 * std::size_t(schedule.nics()) + 1),
        free_(stride_ * std::size_t(schedule.ranks())) {
    for (std::size_t rank = 0; rank < start.size(); ++rank)
      std::fill_n(free_.begin() + std::ptrdiff_t(rank * stride_), stride_, start[rank]);
  }

  std::int64_t& cpu(Rank rank, Units units) { return free_[std::size_t(rank) * stride_ + units.cpu]; }
  std::int64_t& sending(Rank rank, Units units) { return free_[std::size_t(rank) * stride_ + cpus_ + 2u * units.nic]; }
  std::int64_t& receiving(Rank rank, Units units) {
    return free_[std::size_t(rank) * stride_ + cpus_ + 2u * units.nic + 1];
  }

  /// Event `number` of the rank waits until `time`. Whether many of them wait now, as a sample of one in eight says.
  bool put_off(Rank rank, std::uint32_t number, std::int64_t now, std::int64_t time) {
    std::int64_t& last = free_[(std::size_t(rank) + 1) * stride_ - 1];
    if ((last & kMany) == kMany && last > now) [[unlikely]]
      return last = time | kMany, true;
    if (number * kMixed >> 29 == 0) last = (time & ~kMany) | ((last & ~kMany) > now ? (last & kMany) + 1 : 0);
    return false;
  }

  std::int64_t last_cpu(Rank rank) const {
    const auto first = free_.begin() + std::ptrdiff_t(std::size_t(rank) * stride_);
    return std::max(std::int64_t{0}, *std::max_element(first, first + std::ptrdiff_t(cpus_)));
  }

 private:
  static constexpr std::int64_t kMany = 7;             ///< The lowest bits.
  static constexpr std::uint32_t kMixed = 0x9e3779b1;  ///< 2^32 over the golden ratio.

  std::size_t cpus_;
  std::size_t stride_;
  /// For each rank its processors, the sides of its interfaces, and until when the event of the sample waits that came
  /// last, with the number of those before that wait with it in the lowest bits: in one place for the sake of the cache.
  std::vector<std::int64_t> free_;
};

}  // namespace idlewave::sim::network
