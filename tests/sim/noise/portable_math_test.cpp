#include "workloads/sim/noise/portable_math.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace idlewave::sim::noise {
namespace {

TEST(PortableLog, IsTheLogarithmToTheLastBits) {
  std::mt19937_64 random{1};
  std::uniform_real_distribution<double> exponent{-700, 700};
  for (int i = 0; i < 1'000'000; ++i) {
    const double x = i % 2 ? std::exp(exponent(random)) : std::generate_canonical<double, 53>(random) + 0x1p-60;
    const double exact = std::log(x);
    ASSERT_NEAR(portable_log(x), exact, 0x1p-52 * (1 + std::abs(exact))) << "seed 1, x = " << x;
  }
}

TEST(PortableLog, KnowsTheEndsOfItsRange) {
  EXPECT_NEAR(portable_log(1), 0, 0x1p-52);
  EXPECT_NEAR(portable_log(1 - 0x1p-53), -0x1p-53, 0x1p-52);
  EXPECT_NEAR(portable_log(0x1p-53), std::log(0x1p-53), 0x1p-47);
  EXPECT_NEAR(portable_log(0x1.fffffffffffffp1023), std::log(0x1.fffffffffffffp1023), 0x1p-42);
  EXPECT_NEAR(portable_log(0x1p-1022), std::log(0x1p-1022), 0x1p-42);
}

TEST(PortableExp, IsTheExponentialToTheLastBits) {
  std::mt19937_64 random{2};
  std::uniform_real_distribution<double> exponent{-707, 0};
  for (int i = 0; i < 300'000; ++i) {
    const double x = exponent(random);
    const double exact = std::exp(x);
    ASSERT_NEAR(portable_exp(x), exact, 0x1p-51 * exact) << "seed 2, x = " << x;
  }
  EXPECT_EQ(portable_exp(0), 1);
  EXPECT_EQ(portable_exp(-709), 0);
}

}  // namespace
}  // namespace idlewave::sim::noise
