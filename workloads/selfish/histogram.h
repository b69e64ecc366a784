#pragma once
// How many detours of which length there were.

#include <array>
#include <cstdint>

#include "workloads/support/noise_trace.h"

namespace idlewave::selfish {

/// Bin k holds what takes from 2^k ns up to, but not including, 2^(k + 1) ns.
struct Histogram {
  static constexpr std::size_t kBins = 63;
  std::array<std::int64_t, kBins> detours{};
  std::array<std::int64_t, kBins> nanoseconds{};  ///< What they take together.
};

/// Of all that takes any time.
Histogram histogram_of(const support::NoiseTrace& trace);

/// The first moment of a bin's range.
wire::Nanoseconds begin_of_bin(std::size_t bin);

}  // namespace idlewave::selfish
