#pragma once
// What repeated measurements of b(n) say. Pure.

#include <vector>

namespace idlewave::cli::calibration {

/// With an interval that is to hold the truth in 95 of 100 calibrations; of b_sat, where a curve is flat over many n, it
/// does so in some 88 (tests/cli/calibration).
struct Estimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// Bytes per second; cores.
struct Fit {
  std::vector<double> curve;  ///< b(1), b(2), ...: medians of the repeats, to four digits, as a machine file has them.
  Estimate core;              ///< b(1)
  Estimate saturated;         ///< The largest of the curve.
  Estimate saturation_point;  ///< N_sc of the curve (theory::saturation_point).
  double scatter = 0;         ///< Largest distance between the quartiles of the repeats, as a share of their median.
  int most_scattered = 1;     ///< The n of it.
};

/// repeats[n - 1]: bandwidths of n cores, at least one each. Intervals: the repeats are drawn again 1000 times, with the
/// same seed always, and all is fitted anew (bootstrap). An interval of a bandwidth holds what nearly all of those fits
/// come to, and what is left of the value when their errors are taken from it: the largest of several medians is too
/// large, and that of drawn ones is so again.
Fit fit(const std::vector<std::vector<double>>& repeats);

double median(std::vector<double> values);

}  // namespace idlewave::cli::calibration
