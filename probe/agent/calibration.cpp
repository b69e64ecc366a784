#include "probe/agent/calibration.h"

#include <time.h>

#include <cmath>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace idlewave::agent {

using shm::ClockReading;

namespace {

constexpr std::int64_t kSpan = 20'000'000;        // ns between the two readings that the rate is fitted to
constexpr std::int64_t kGlance = 1'000'000;       // ns that show whether an earlier reading is of these clocks
constexpr double kAgreement = 1e-3;               // two rates of the same clocks differ by no more
constexpr std::int64_t kOldest = 60'000'000'000;  // ns; since then the machine may have slept
// What a counter's rate may be, in Hz. Beyond it something is wrong, and the slower clock is the better one.
constexpr double kSlowest = 1e8;
constexpr double kFastest = 2e10;

/// The counter runs at one rate whatever the core does (Intel SDM vol. 3, 18.17.1 "Invariant TSC"; AMD says the same of
/// this bit).
bool counter_is_invariant() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

ClockReading read_after(std::int64_t ns) {
  const timespec span{0, ns};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
  return shm::read_both_clocks();
}

/// Hz; 0 where a clock did not go on.
double rate_between(const ClockReading& first, const ClockReading& last) {
  if (last.counter <= first.counter || last.ns <= first.ns) return 0;
  return double(last.counter - first.counter) / double(last.ns - first.ns) * 1e9;
}

/// Far enough back, and at the rate at which the counter runs now.
bool is_of_use(const ClockReading& earlier, const ClockReading& first, const ClockReading& last) {
  if (earlier.ns < last.ns - kOldest || earlier.ns > last.ns - kSpan) return false;
  const double rate = rate_between(first, last);
  return std::abs(rate_between(earlier, last) - rate) <= kAgreement * rate;
}

shm::Clock clock_through(const ClockReading& first, const ClockReading& last) {
  const double rate = rate_between(first, last);
  if (rate < kSlowest || rate > kFastest) return {};
  shm::Clock clock;
  clock.use_tsc = 1;
  clock.counter_base = last.counter;
  clock.ns_base = last.ns;
  clock.multiplier = std::uint64_t(1e9 / rate * 4294967296.0);
  return clock;
}

}  // namespace

shm::Clock calibrate_clock(const std::optional<ClockReading>& earlier) {
  if (!shm::kHasCounter || !counter_is_invariant()) return {};
  const ClockReading first = shm::read_both_clocks();
  const ClockReading soon = read_after(kGlance);
  if (earlier && is_of_use(*earlier, first, soon)) return clock_through(*earlier, soon);
  return clock_through(first, read_after(kSpan - kGlance));
}

}  // namespace idlewave::agent
