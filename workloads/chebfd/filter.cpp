#include "workloads/chebfd/filter.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace idlewave::chebfd {
namespace {

using std::numbers::pi;

/// Of the spectrum: T_p grows without bounds beyond 1, which rounding may pass.
constexpr double kMargin = 0.01;

double window_coefficient(int p, double from, double to) {
  if (p == 0) return (from - to) / pi;
  return 2 / (pi * p) * (std::sin(p * from) - std::sin(p * to));
}

double jackson(int p, int degree) {
  const double n = degree + 2;
  return ((n - p) * std::cos(pi * p / n) + std::sin(pi * p / n) / std::tan(pi / n)) / n;
}

}  // namespace

Filter filter_of(const Window& window, double largest_energy, int degree) {
  Filter filter{.alpha = 1 / (largest_energy * (1 + kMargin)), .beta = 0, .coefficients = {}};
  const double from = std::acos(filter.alpha * window.lowest), to = std::acos(filter.alpha * window.highest);
  for (int p = 0; p <= degree; ++p) filter.coefficients.push_back(jackson(p, degree) * window_coefficient(p, from, to));
  return filter;
}

double chebyshev(int p, double x) { return std::cos(p * std::acos(std::clamp(x, -1.0, 1.0))); }

double passed(const Filter& filter, double energy) {
  double sum = 0;
  for (std::size_t p = 0; p < filter.coefficients.size(); ++p)
    sum += filter.coefficients[p] * chebyshev(int(p), filter.alpha * energy + filter.beta);
  return sum;
}

}  // namespace idlewave::chebfd
