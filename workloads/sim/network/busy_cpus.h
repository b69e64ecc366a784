#pragma once
// Processors of which nobody knows yet when they will be free, and the events that wait for them.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "workloads/sim/network/goal_schedule.h"
#include "workloads/sim/network/network_event.h"

namespace idlewave::sim::network {

/// In place of the moment when it is free, the clock of such a processor shows clock_of(cpu), later than any moment.
class BusyCpus {
 public:
  struct Cpu {
    std::int64_t not_before = 0;  ///< Is not free before, whenever the calculation ends.
    std::int64_t begin = 0;
    OpId op = 0;
    std::uint32_t number = 0;  ///< Of the calculation among those of its rank.
    std::uint32_t waits = kNone;
    std::uint32_t parked = 0;  ///< So many wait.
  };

  explicit BusyCpus(std::size_t cpus) : cpus_(cpus) {}

  static bool is_busy(std::int64_t clock) { return clock >= kBusy; }
  static std::int64_t clock_of(std::uint32_t cpu) { return kBusy + cpu; }
  static std::uint32_t cpu_of(std::int64_t clock) { return std::uint32_t(clock - kBusy); }

  Cpu& operator[](std::uint32_t cpu) { return cpus_[cpu]; }

  /// The event will come when the processor is free, at its own time if that is later.
  void park(std::uint32_t cpu, NetworkEvent event) {
    event.time = std::max(event.time, cpus_[cpu].not_before);
    const std::uint32_t place = free_ == kNone ? std::uint32_t(parked_.size()) : free_;
    if (free_ == kNone)
      parked_.emplace_back();
    else
      free_ = parked_[free_].next;
    parked_[place] = {event, cpus_[cpu].waits};
    cpus_[cpu].waits = place;
    ++cpus_[cpu].parked;
  }

  template <class Use>
  void release(std::uint32_t cpu, Use&& use) {
    for (std::uint32_t place = cpus_[cpu].waits; place != kNone;) {
      use(parked_[place].event);
      const std::uint32_t next = parked_[place].next;
      parked_[place].next = free_;
      free_ = place;
      place = next;
    }
    cpus_[cpu].waits = kNone;
    cpus_[cpu].parked = 0;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::int64_t kBusy = (std::int64_t{1} << 62) + (std::int64_t{1} << 61);
  struct Parked {
    NetworkEvent event;
    std::uint32_t next = kNone;
  };

  std::vector<Cpu> cpus_;
  std::vector<Parked> parked_;
  std::uint32_t free_ = kNone;  ///< First of the places in parked_ that are not in use.
};

}  // namespace idlewave::sim::network
