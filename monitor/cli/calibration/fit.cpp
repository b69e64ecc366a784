#include "monitor/cli/calibration/fit.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "monitor/theory/contention.h"

namespace idlewave::cli::calibration {
namespace {

using Repeats = std::vector<std::vector<double>>;

constexpr int kResamples = 1000;
constexpr double kOutside = 0.025;  ///< At either end of an interval.

/// Between the two values that are nearest to it.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double place = share * double(values.size() - 1);
  const auto below = std::size_t(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (place - double(below));
}

double to_four_digits(double value) {
  const double unit = std::pow(10, std::floor(std::log10(value)) - 3);
  return std::round(value / unit) * unit;
}

std::vector<double> medians_of(const Repeats& repeats) {
  std::vector<double> medians;
  for (const auto& of_n : repeats) medians.push_back(median(of_n));
  return medians;
}

std::vector<double> drawn_again(const std::vector<double>& values, std::mt19937_64& random) {
  std::uniform_int_distribution<std::size_t> any(0, values.size() - 1);
  std::vector<double> drawn;
  for (std::size_t i = 0; i < values.size(); ++i) drawn.push_back(values[any(random)]);
  return drawn;
}

/// Of the same calibration made again and again.
struct Fits {
  std::vector<double> core, saturated, saturation_point;
};

Fits fits_of_resamples(const Repeats& repeats) {
  std::mt19937_64 random(1);
  Fits fits;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<double> curve;
    for (const auto& of_n : repeats) curve.push_back(median(drawn_again(of_n, random)));
    fits.core.push_back(curve.front());
    fits.saturated.push_back(std::ranges::max(curve));
    fits.saturation_point.push_back(theory::saturation_point(curve));
  }
  return fits;
}

Estimate by_values_and_errors(double value, const std::vector<double>& resampled) {
  const double low = quantile(resampled, kOutside), high = quantile(resampled, 1 - kOutside);
  return {value, std::min(low, 2 * value - high), std::max(high, 2 * value - low)};
}

Estimate by_values(double value, const std::vector<double>& resampled) {
  return {value, std::min(value, std::floor(quantile(resampled, kOutside))),
          std::max(value, std::ceil(quantile(resampled, 1 - kOutside)))};
}

void find_scatter(const Repeats& repeats, Fit& fit) {
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    const double scatter = (quantile(repeats[i], 0.75) - quantile(repeats[i], 0.25)) / median(repeats[i]);
    if (scatter <= fit.scatter) continue;
    fit.scatter = scatter;
    fit.most_scattered = int(i) + 1;
  }
}

}  // namespace

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Fit fit(const std::vector<std::vector<double>>& repeats) {
  Fit fit;
  fit.curve = medians_of(repeats);
  std::ranges::transform(fit.curve, fit.curve.begin(), to_four_digits);
  const Fits fits = fits_of_resamples(repeats);
  fit.core = by_values_and_errors(fit.curve.front(), fits.core);
  fit.saturated = by_values_and_errors(std::ranges::max(fit.curve), fits.saturated);
  fit.saturation_point = by_values(theory::saturation_point(fit.curve), fits.saturation_point);
  find_scatter(repeats, fit);
  return fit;
}

}  // namespace idlewave::cli::calibration
