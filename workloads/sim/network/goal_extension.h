#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/sim/network/busy_cpus.h"
#include "workloads/sim/network/goal_options.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/sim/network/memory_domains.h"

namespace idlewave::sim::network {

/// No run is to last longer, nanoseconds. With memory or noise clocks need room beyond it.
inline constexpr std::int64_t kLongestSchedule = std::int64_t{1} << 62;
inline constexpr std::int64_t kLongestExtended = std::int64_t{1} << 61;

/// What a run with memory domains, noise or an observer knows beyond a plain one.
class GoalExtension {
 public:
  GoalExtension(const GoalSchedule& schedule, const GoalOptions& options)
      : cpus_a_rank(std::uint32_t(schedule.cpus())),
        busy(options.memory ? std::size_t(schedule.ranks()) * cpus_a_rank : 0),
        noise(options.noise),
        interrupts(options.noise && options.noise->is_in_time()),
        observer(options.observer),
        stop(options.stop),
        calcs(options.noise ? std::size_t(schedule.ranks()) : 0) {
    if (!options.memory) return;
    memory.emplace(*options.memory, schedule.ranks(), schedule.cpus());
    wakes.assign(memory->domains(), SharedMemory::kNever);
  }

  std::uint32_t domains() const { return std::uint32_t(wakes.size()); }
  std::uint32_t cpu_number(Rank rank, Units units) const { return std::uint32_t(rank) * cpus_a_rank + units.cpu; }

  /// Nanoseconds after what ran from begin to end.
  std::int64_t idle_after(Rank rank, std::uint32_t number, std::int64_t begin, std::int64_t end) const {
    const double idle = noise->after(rank, number, double(begin) * 1e-9, double(end) * 1e-9);
    return std::llround(std::min(idle * 1e9, double(kLongestExtended)));
  }
  std::int64_t interruption(Rank rank, std::int64_t begin, std::int64_t end) const {
    return interrupts ? idle_after(rank, 0, begin, end) : 0;
  }
  std::int64_t free_from(Rank rank, std::int64_t time) const {
    return std::llround(std::min(noise->free_from(rank, double(time) * 1e-9) * 1e9, double(kLongestExtended) + 1));
  }
  std::uint32_t next_number(Rank rank) { return noise ? calcs[std::size_t(rank)]++ : 0; }

  std::uint32_t cpus_a_rank;
  std::optional<SharedMemory> memory;
  BusyCpus busy;
  std::vector<std::int64_t> wakes;  ///< By domain: when the event comes that looks for ends; kNever: none.
  const PhaseNoise* noise;
  bool interrupts;  ///< Noise in time.
  CalcObserver* observer;
  const std::atomic<bool>* stop;
  std::vector<std::uint32_t> calcs;  ///< By rank: so many were begun.
};

}  // namespace idlewave::sim::network
