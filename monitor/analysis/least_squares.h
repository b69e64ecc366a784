#pragma once
// Medians of figures, and straight lines through points.

#include <optional>
#include <span>
#include <vector>

namespace idlewave::analysis {

/// A figure that was fitted, and its standard error.
struct Estimate {
  double value = 0;
  /// Nothing where there are no more points than parameters.
  std::optional<double> error;
  int points = 0;
};

double median(std::vector<double> values);  ///< Of at least one.
double median(std::span<double> values);    ///< The same without a copy: puts them into another order.
/// Mean absolute deviation from the median, as a share of it; 0 where that is not positive. Of at least one.
double variation(const std::vector<double>& values);

/// With its standard error for normal values, by their mean absolute deviation: pi/2 of that over the root of how many
/// they are. Of at least one.
Estimate median_estimate(const std::vector<double>& values);

/// Least-squares slope dy/dx; nothing with fewer than two points or when all x are equal. `x` and `y` have the same
/// length.
std::optional<Estimate> fitted_slope(std::span<const double> x, std::span<const double> y);

/// 1 / slope, by its error to first order; nothing where the slope is 0.
std::optional<Estimate> inverse(const std::optional<Estimate>& slope);

}  // namespace idlewave::analysis
