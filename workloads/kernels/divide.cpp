#include "workloads/kernels/divide.h"

#include <algorithm>
#include <cmath>

#include "workloads/support/pause.h"

namespace idlewave::kernels {

double divide_chain(std::uint64_t divisions) {
  // Not simple denominators: those divide faster on some processors. The value goes to and fro between x and 1.7 / x.
  double x = 1.3;
  for (std::uint64_t i = 0; i < divisions; ++i) x = 1.7 / x;
  return x;
}

std::uint64_t divisions_lasting(wire::Nanoseconds time) {
  constexpr int kTrials = 10;
  constexpr std::uint64_t kTrialDivisions = 400'000;
  wire::Nanoseconds best = wire::Nanoseconds::max();
  for (int trial = 0; trial < kTrials; ++trial) {
    const wire::Nanoseconds start = support::monotonic_now();
    [[maybe_unused]] volatile const double kept = divide_chain(kTrialDivisions);
    best = std::min(best, support::monotonic_now() - start);
  }
  const double per_division = static_cast<double>(best.count()) / kTrialDivisions;
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::llround(static_cast<double>(time.count()) / per_division)));
}

}  // namespace idlewave::kernels
