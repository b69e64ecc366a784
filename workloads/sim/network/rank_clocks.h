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
        stride_(cpus_ + 2 * std::size_t(schedule.nics())),
        free_(stride_ * std::size_t(schedule.ranks())) {
    for (std::size_t rank = 0; rank < start.size(); ++rank)
      std::fill_n(free_.begin() + std::ptrdiff_t(rank * stride_), stride_, start[rank]);
  }

  std::int64_t& cpu(Rank rank, Units units) { return free_[std::size_t(rank) * stride_ + units.cpu]; }
  std::int64_t& sending(Rank rank, Units units) { return free_[std::size_t(rank) * stride_ + cpus_ + 2u * units.nic]; }
  std::int64_t& receiving(Rank rank, Units units) {
    return free_[std::size_t(rank) * stride_ + cpus_ + 2u * units.nic + 1];
  }

  std::int64_t last_cpu(Rank rank) const {
    const auto first = free_.begin() + std::ptrdiff_t(std::size_t(rank) * stride_);
    return std::max(std::int64_t{0}, *std::max_element(first, first + std::ptrdiff_t(cpus_)));
  }

 private:
  std::size_t cpus_;
  std::size_t stride_;
  std::vector<std::int64_t> free_;
};

}  // namespace idlewave::sim::network
