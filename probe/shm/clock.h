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

/// The same times, for who reads them all the time: ticks and multiplier are shifted beforehand, so that the upper half of their
/// product is the result. To shift a product of two words takes some processors six operations.
class QuickClock {
 public:
  QuickClock() = default;
  explicit QuickClock(const Clock& clock)
      : counter_base_(clock.counter_base),
        multiplier_(static_cast<std::int64_t>(clock.multiplier << (32 - kShift))),
        ns_base_(clock.ns_base) {}

  /// It counts, and more than 500 million times a second.
  static bool can_stand_for(const Clock& clock) {
    return clock.use_tsc != 0 && clock.multiplier < std::uint64_t{1} << (31 + kShift);
  }

  /// As at_counter, less than 2^61 ticks from the base.
  wire::Nanoseconds at(std::uint64_t counter) const {
    __extension__ using Wide = __int128;
    const auto ticks = static_cast<std::int64_t>((counter - counter_base_) << kShift);
    return wire::Nanoseconds{ns_base_ + static_cast<std::int64_t>(Wide{ticks} * Wide{multiplier_} >> 64)};
  }
  wire::Nanoseconds now() const { return at(read_counter()); }

 private:
  static constexpr int kShift = 2;

  std::uint64_t counter_base_ = 0;
  std::int64_t multiplier_ = 0;
  std::int64_t ns_base_ = 0;
};

}  // namespace idlewave::shm
