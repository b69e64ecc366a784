#include "monitor/theory/distributions.h"

#include <cmath>

namespace idlewave::theory {
namespace {

constexpr int kMostTerms = 100'000;
constexpr double kSmall = 1e-12;

double factor(double shape, double x) { return std::exp(shape * std::log(x) - x - std::lgamma(shape)); }

double series(double shape, double x) {
  double term = 1 / shape, sum = term;
  for (int n = 1; n < kMostTerms && term > kSmall * sum; ++n) sum += term *= x / (shape + n);
  return sum * factor(shape, x);
}

/// 1 - P.
double fraction(double shape, double x) {
  constexpr double kTiny = 1e-300;
  double b = x + 1 - shape, c = 1 / kTiny, d = 1 / b, h = d;
  for (int n = 1; n < kMostTerms; ++n) {
    const double a = -n * (n - shape);
    b += 2;
    d = a * d + b;
    c = b + a / c;
    d = 1 / (d == 0 ? kTiny : d);
    if (c == 0) c = kTiny;
    h *= c * d;
    if (std::abs(c * d - 1) < kSmall) break;
  }
  return h * factor(shape, x);
}

}  // namespace

double gamma_cumulative(double shape, double x) {
  if (x <= 0) return 0;
  return x < shape + 1 ? series(shape, x) : 1 - fraction(shape, x);
}

}  // namespace idlewave::theory
