#pragma once
// The slope of what goes on from where it is: a front runs on from the rank that it has come to.

#include <optional>
#include <span>

#include "monitor/analysis/least_squares.h"

namespace idlewave::analysis::waves {

/// Least-squares slope dy/dx of points whose deviations add up, each from the one before: what holds up one rank holds up all
/// behind it. Points of one stretch in a row lie on one line; all lines have one slope, and each its own offset. The variance of
/// such a walk is told by its increments, which know nothing of each other, or by all that lies beside the lines, where that is
/// more, as where increments are alike. The error is the standard error that follows for the slope, taken so much larger that
/// twice of it holds the truth 95 times of 100, however few the increments are: by Student's t, of as many degrees of freedom as
/// there are increments less one, over the quantile of the normal distribution. Nothing where no line has two points, or where
/// there are several lines and but one of their increments. `x` ascends or descends; all three have the same length.
std::optional<Estimate> fitted_walk(std::span<const double> x, std::span<const double> y,
                                    std::span<const unsigned> stretches);

}  // namespace idlewave::analysis::waves
