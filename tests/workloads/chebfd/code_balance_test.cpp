// Eq. 3 of afzal-2020.

#include <gtest/gtest.h>

#include "workloads/theory/chebfd.h"

namespace idlewave::theory {
namespace {

TEST(ChebFD, BalanceFallsWithTheBlockToThatOfItsVectors) {
  EXPECT_DOUBLE_EQ(chebfd_code_balance(1), 340.0 / 146);
  EXPECT_NEAR(chebfd_code_balance(2), 1.438, 0.001);
  EXPECT_NEAR(chebfd_code_balance(1e9), 80.0 / 146, 1e-6);
}

// Section 6: "only 41 Gflop/s out of the bandwidth-bound Roofline limit of 66 Gflop/s" on a socket of Emmy with
// n_b = 32: a bandwidth below the theoretical one of Table 1, as measured ones are.
TEST(ChebFD, MakesTheRooflineLimitOfThePaperABandwidthThatItsMachineHas) {
  const double bandwidth = 66e9 * chebfd_code_balance(32);
  EXPECT_LT(bandwidth, 51.2e9);
  EXPECT_GT(bandwidth, 0.7 * 51.2e9);
}

}  // namespace
}  // namespace idlewave::theory
