#include "workloads/selfish/histogram.h"

#include <bit>

namespace idlewave::selfish {

Histogram histogram_of(const support::NoiseTrace& trace) {
  Histogram histogram;
  for (const support::Detour& detour : trace) {
    if (detour.duration.count() <= 0) continue;
    const auto bin = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(detour.duration.count())) - 1);
    ++histogram.detours[bin];
    histogram.nanoseconds[bin] += detour.duration.count();
  }
  return histogram;
}

wire::Nanoseconds begin_of_bin(std::size_t bin) { return wire::Nanoseconds{std::int64_t{1} << bin}; }

}  // namespace idlewave::selfish
