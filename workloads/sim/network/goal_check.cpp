#include "workloads/sim/network/goal_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "workloads/sim/network/costs.h"
#include "workloads/sim/network/goal_extension.h"

namespace idlewave::sim::network {
namespace {

/// No run is longer than all of its operations one after another.
double longest(const GoalSchedule& schedule, const support::LogGops& network) {
  const double message = double(network.latency.count()) + 2 * double(network.overhead.count() + network.gap.count());
  const double byte = 2e9 * (network.gap_per_byte + network.overhead_per_byte);
  const auto& sums = schedule.amounts();
  return sums.calc_ns + message * sums.messages + byte * sums.bytes;
}

wire::Error too_long(double limit, int years) {
  return wire::Error{fmt::format(
      "schedule: it may run for more than 2^{} ns ({} years); make its calculations, its messages or its noise smaller",
      std::ilogb(limit), years)};
}

wire::Status check_start(const GoalSchedule& schedule, std::span<const std::int64_t> start) {
  if (start.empty()) return wire::ok();
  if (start.size() != std::size_t(schedule.ranks()))
    return wire::Error{fmt::format("start times: {} given for {} ranks", start.size(), schedule.ranks())};
  if (*std::min_element(start.begin(), start.end()) < 0) return wire::Error{"start times: they must not be negative"};
  return wire::ok();
}

wire::Status check(const MemoryDomains& memory, const GoalSchedule& schedule) {
  if (memory.ranks_per_domain < 1)
    return wire::Error{fmt::format("memory domains of {} ranks: at least 1", memory.ranks_per_domain)};
  const auto most = std::size_t(std::min(memory.ranks_per_domain, schedule.ranks())) * std::size_t(schedule.cpus());
  if (memory.speed.size() <= most)
    return wire::Error{fmt::format("memory domains: speeds of up to {} calculations are needed", most)};
  for (std::size_t n = 1; n <= most; ++n)
    if (const double speed = memory.speed[n]; !(speed >= SharedMemory::kSlowest && speed <= SharedMemory::kFastest))
      return wire::Error{
          fmt::format("memory domains: each of {} calculations would run {} times as fast as one alone; "
                      "from {} to {} is possible",
                      n, speed, SharedMemory::kSlowest, SharedMemory::kFastest)};
  // Events of domains and processors are numbered with the rest.
  if (std::size_t(schedule.ranks()) * std::size_t(schedule.cpus() + 1) >= kMaxOps)
    return wire::Error{fmt::format("memory domains: at most {} processors are possible", kMaxOps / 2)};
  return wire::ok();
}

/// How much longer calculations may take than alone.
double most_slowdown(const MemoryDomains* memory) {
  if (!memory) return 1;
  return 1 / std::min(1.0, *std::min_element(memory->speed.begin() + 1, memory->speed.end()));
}

}  // namespace

bool is_extended(const GoalOptions& options) {
  return options.memory || options.noise || options.observer || options.stop;
}

wire::Status check(const GoalSchedule& schedule, const support::LogGops& network, const GoalOptions& options) {
  if (auto status = check_costs(network); !status) return status;
  if (auto status = check_start(schedule, options.start_ns); !status) return status;
  if (options.memory)
    if (auto status = check(*options.memory, schedule); !status) return status;
  const double start = options.start_ns.empty() ? 0.0 : double(*std::ranges::max_element(options.start_ns));
  const double all = start + longest(schedule, network) * most_slowdown(options.memory);
  if (!is_extended(options) && all > double(kLongestSchedule)) return too_long(double(kLongestSchedule), 146);
  if (is_extended(options) && all > double(kLongestExtended)) return too_long(double(kLongestExtended), 73);
  return wire::ok();
}

wire::Error too_long_with_noise() { return too_long(double(kLongestExtended), 73); }

}  // namespace idlewave::sim::network
