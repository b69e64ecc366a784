#include "monitor/theory/contention.h"

#include <algorithm>

namespace idlewave::theory {

double domain_bandwidth(double active, double core_bandwidth, double saturated_bandwidth) {
  return std::min(active * core_bandwidth, saturated_bandwidth);
}

double saturation_point(double core_bandwidth, double saturated_bandwidth) {
  return core_bandwidth > 0 && saturated_bandwidth > 0 ? saturated_bandwidth / core_bandwidth : 0;
}

int saturation_point(std::span<const double> curve) {
  constexpr double kSaturated = 0.95;
  if (curve.empty()) return 0;
  const double least = kSaturated * *std::ranges::max_element(curve);
  return int(std::ranges::find_if(curve, [&](double b) { return b >= least; }) - curve.begin()) + 1;
}

double phase_time(double active, double volume, double core_bandwidth, double saturated_bandwidth) {
  return active * volume / domain_bandwidth(active, core_bandwidth, saturated_bandwidth);
}

}  // namespace idlewave::theory
