// Where the gamma distribution has a closed form.

#include "monitor/theory/distributions.h"

#include <gtest/gtest.h>

#include <cmath>

namespace idlewave::theory {
namespace {

TEST(Gamma, OfShapeOneIsExponential) {
  for (const double x : {1e-6, 0.1, 1.0, 1.9, 2.1, 10.0, 50.0})
    EXPECT_NEAR(gamma_cumulative(1, x), 1 - std::exp(-x), 1e-12);
}

TEST(Gamma, OfShapeOneHalfIsASquareOfANormalNumber) {
  for (const double x : {1e-6, 0.1, 1.0, 1.4, 1.6, 10.0})
    EXPECT_NEAR(gamma_cumulative(0.5, x), std::erf(std::sqrt(x)), 1e-12);
}

TEST(Gamma, OfAWholeShapeCountsArrivals) {
  for (const int shape : {2, 5, 40}) {
    for (const double x : {0.5, 4.0, 39.0, 42.0, 100.0}) {
      double term = std::exp(-x), none = term;
      for (int n = 1; n < shape; ++n) none += term *= x / n;
      EXPECT_NEAR(gamma_cumulative(shape, x), 1 - none, 1e-11) << shape << " " << x;
    }
  }
}

TEST(Gamma, IsNothingBelowNought) {
  EXPECT_EQ(gamma_cumulative(3, 0), 0);
  EXPECT_EQ(gamma_cumulative(3, -1), 0);
}

}  // namespace
}  // namespace idlewave::theory
