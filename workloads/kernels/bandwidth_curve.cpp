#include "workloads/kernels/bandwidth_curve.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace idlewave::kernels {

BandwidthCurve BandwidthCurve::saturating(double core, double domain) {
  std::vector<double> points;
  for (int n = 1; n <= std::ceil(domain / core); ++n) points.push_back(std::min(n * core, domain));
  return BandwidthCurve{std::move(points)};
}

BandwidthCurve::BandwidthCurve(std::vector<double> points) {
  assert(!points.empty() && std::ranges::min(points) > 0);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double of_each = points[i] / static_cast<double>(i + 1);
    of_each_.push_back(i == 0 ? of_each : std::min(of_each, of_each_.back()));
  }
  saturated_ = of_each_.back() * static_cast<double>(points.size());
}

double BandwidthCurve::of_each(int processes) const {
  assert(processes >= 1);
  const auto n = static_cast<std::size_t>(processes);
  return n <= of_each_.size() ? of_each_[n - 1] : saturated_ / processes;
}

}  // namespace idlewave::kernels
