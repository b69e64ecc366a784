#pragma once
// Curves b(n) of random machines, and what repeated measurements of them give.

#include <cmath>
#include <random>
#include <vector>

namespace idlewave::cli::calibration::test {

/// b(1), b(2), ...: rises by less with each core and stays, as sharply or smoothly as chance has it.
inline std::vector<double> any_curve(std::mt19937_64& random) {
  const auto between = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  const int cores = std::uniform_int_distribution(1, 40)(random);
  const double core = between(1e9, 20e9), saturated = core * between(1.2, 30), sharpness = between(2, 20);
  std::vector<double> curve;
  for (int n = 1; n <= cores; ++n)
    curve.push_back(std::pow(std::pow(n * core, -sharpness) + std::pow(saturated, -sharpness), -1 / sharpness));
  return curve;
}

/// Each value off by a share of this standard deviation.
inline std::vector<std::vector<double>> measured(const std::vector<double>& curve, int repeats, double noise,
                                                 std::mt19937_64& random) {
  std::normal_distribution<double> error(1, noise);
  std::vector<std::vector<double>> all(curve.size());
  for (std::size_t n = 0; n < curve.size(); ++n) {
    for (int i = 0; i < repeats; ++i) all[n].push_back(curve[n] * error(random));
  }
  return all;
}

}  // namespace idlewave::cli::calibration::test
