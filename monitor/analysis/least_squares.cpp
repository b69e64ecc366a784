#include "monitor/analysis/least_squares.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>

namespace idlewave::analysis {
namespace {

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

double sum_of_products(std::span<const double> a, double mean_a, std::span<const double> b, double mean_b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum;
}

}  // namespace

double median(std::vector<double> values) { return median(std::span(values)); }

double median(std::span<double> values) {
  assert(!values.empty());
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double variation(const std::vector<double>& values) {
  const double middle = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - middle);
  return middle > 0 ? sum / double(values.size()) / middle : 0;
}

Estimate median_estimate(const std::vector<double>& values) {
  Estimate estimate{.value = median(values), .error = std::nullopt, .points = int(values.size())};
  if (values.size() > 1)
    estimate.error = std::numbers::pi / 2 * variation(values) * estimate.value / std::sqrt(double(values.size()));
  return estimate;
}

std::optional<Estimate> fitted_slope(std::span<const double> x, std::span<const double> y) {
  assert(x.size() == y.size());
  if (x.size() < 2) return std::nullopt;
  const double mean_x = mean(x), mean_y = mean(y);
  const double xx = sum_of_products(x, mean_x, x, mean_x);
  if (!(xx > 0)) return std::nullopt;
  const double xy = sum_of_products(x, mean_x, y, mean_y), yy = sum_of_products(y, mean_y, y, mean_y);
  Estimate estimate{.value = xy / xx, .error = std::nullopt, .points = int(x.size())};
  // Rounding may leave a little less than nothing beside a straight line.
  const double beside = std::max(0.0, yy - xy * xy / xx);
  if (x.size() > 2) estimate.error = std::sqrt(beside / double(x.size() - 2) / xx);
  return estimate;
}

std::optional<Estimate> inverse(const std::optional<Estimate>& slope) {
  if (!slope || slope->value == 0) return std::nullopt;
  Estimate turned{.value = 1 / slope->value, .error = std::nullopt, .points = slope->points};
  if (slope->error) turned.error = *slope->error / (slope->value * slope->value);
  return turned;
}

}  // namespace idlewave::analysis
