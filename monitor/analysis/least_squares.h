#pragma once
// Straight lines through points.

#include <span>

namespace idlewave::analysis {

/// Least-squares slope dy/dx; 0 with fewer than two points or when all x are equal. `x` and `y` have the same length.
double slope(std::span<const double> x, std::span<const double> y);

}  // namespace idlewave::analysis
