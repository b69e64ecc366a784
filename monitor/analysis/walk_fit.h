#pragma once
// The slope of what goes on from where it is: a front runs on from the rank that it has come to.

#include <optional>
#include <span>

#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis {

/// Least-squares slope dy/dx of points whose deviations add up, each from the one before: what holds up one rank holds up all
/// behind it. Points of one stretch in a row lie on one line; all lines have one slope, and each its own offset. The standard
/// error takes all that lies beside the lines for such sums: of a random walk it is some sqrt(n) times that of as many points
/// that know nothing of each other. Nothing where no line has two points, or where there are several lines and but one of
/// their increments. `x` ascends or descends; all three have the same length.
std::optional<Estimate> fitted_walk(std::span<const double> x, std::span<const double> y,
                                    std::span<const unsigned> stretches);

}  // namespace idlewave::analysis
