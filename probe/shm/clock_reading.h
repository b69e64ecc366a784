#pragma once
// The counter and the kernel's clock at one moment: of two such readings the rate of the counter follows.

#include <cstdint>
#include <limits>

#include "probe/shm/clock.h"

namespace idlewave::shm {

struct ClockReading {
  std::uint64_t counter = 0;
  std::int64_t ns = 0;  ///< Of the monotonic clock.
};

/// Some microseconds. Of several tries the one in which the counter's two readings around the other clock lie closest
/// together, so that an interruption between them does no harm.
inline ClockReading read_both_clocks() {
  constexpr int kTries = 64;
  ClockReading best;
  std::uint64_t tightest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = read_counter();
    const std::int64_t ns = monotonic_now().count();
    const std::uint64_t width = read_counter() - before;
    if (width >= tightest) continue;
    tightest = width;
    best = {before + width / 2, ns};
  }
  return best;
}

}  // namespace idlewave::shm
