#include "probe/agent/calibration.h"

#include <time.h>

#include <cstdint>
#include <limits>

#include "probe/shm/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace idlewave::agent {

namespace {

constexpr long kSpan = 20'000'000;  // ns between the two readings that the rate is fitted to
constexpr int kTries = 64;
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

struct Reading {
  std::uint64_t counter = 0;
  std::int64_t ns = 0;
};

/// Both clocks at one moment: of several tries the one in which the counter's two readings around the other clock lie
/// closest together, so that an interruption between them does no harm.
Reading read_both() {
  Reading best;
  std::uint64_t tightest = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = shm::read_counter();
    const std::int64_t ns = shm::monotonic_now().count();
    const std::uint64_t width = shm::read_counter() - before;
    if (width >= tightest) continue;
    tightest = width;
    best = {before + width / 2, ns};
  }
  return best;
}

}  // namespace

shm::Clock calibrate_clock() {
  if (!shm::kHasCounter || !counter_is_invariant()) return {};
  const Reading first = read_both();
  const timespec span{0, kSpan};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &span, nullptr);
  const Reading last = read_both();
  const double ticks = double(last.counter - first.counter);
  const double ns = double(last.ns - first.ns);
  if (last.counter <= first.counter || ns <= 0 || ticks / ns * 1e9 < kSlowest || ticks / ns * 1e9 > kFastest) return {};
  shm::Clock clock;
  clock.use_tsc = 1;
  clock.counter_base = last.counter;
  clock.ns_base = last.ns;
  clock.multiplier = std::uint64_t(ns / ticks * 4294967296.0);
  return clock;
}

}  // namespace idlewave::agent
