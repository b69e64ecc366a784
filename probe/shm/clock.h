#pragma once
// Reads the node's clock as the segment's header defines it: the invariant TSC turned into nanoseconds, or
// clock_gettime where there is none.

#include <time.h>

#include <cstdint>

#include "probe/shm/layout.h"

namespace idlewave::shm {

#if defined(__x86_64__)
inline constexpr bool kHasCounter = true;
inline std::uint64_t read_counter() { return __builtin_ia32_rdtsc(); }
#else
inline constexpr bool kHasCounter = false;  ///< Agents leave Clock::use_tsc 0.
inline std::uint64_t read_counter() { return 0; }
#endif

/// The kernel's monotonic clock, which the node's clock follows.
inline wire::Nanoseconds monotonic_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return wire::Nanoseconds{now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec};
}

/// `counter` on the clock; a counter before counter_base gives a time before ns_base.
inline wire::Nanoseconds at_counter(const Clock& clock, std::uint64_t counter) {
  __extension__ using Wide = __int128;
  const auto ticks = static_cast<std::int64_t>(counter - clock.counter_base);
  // Signed, both of them: one instruction multiplies them so.
  const auto multiplier = static_cast<std::int64_t>(clock.multiplier);
  return wire::Nanoseconds{clock.ns_base + static_cast<std::int64_t>(Wide{ticks} * Wide{multiplier} >> 32)};
}

/// Any thread. Not serialising: a stamp may be taken a few instructions early, as with any rdtsc.
inline wire::Nanoseconds now(const Clock& clock) {
  return clock.use_tsc ? at_counter(clock, read_counter()) : monotonic_now();
}

}  // namespace idlewave::shm
