#include "monitor/theory/contention.h"

#include <gtest/gtest.h>

#include <vector>

namespace idlewave::theory {
namespace {

constexpr double kGB = 1e9;

TEST(Contention, BandwidthRisesToTheSaturatedValueAndStays) {
  EXPECT_DOUBLE_EQ(domain_bandwidth(1, 10 * kGB, 50 * kGB), 10 * kGB);
  EXPECT_DOUBLE_EQ(domain_bandwidth(5, 10 * kGB, 50 * kGB), 50 * kGB);
  EXPECT_DOUBLE_EQ(domain_bandwidth(10, 10 * kGB, 50 * kGB), 50 * kGB);
}

TEST(Contention, SaturationPointIsTheRatioOfTheBandwidths) {
  EXPECT_DOUBLE_EQ(saturation_point(10 * kGB, 50 * kGB), 5);
  EXPECT_DOUBLE_EQ(saturation_point(0, 50 * kGB), 0);
  EXPECT_DOUBLE_EQ(saturation_point(10 * kGB, 0), 0);
}

TEST(Contention, SaturationPointOfACurveIsWhereItComesWithinFivePercentOfItsLargest) {
  const auto of = [](std::vector<double> curve) { return saturation_point(curve); };
  EXPECT_EQ(of({10, 19, 27, 34, 40, 43, 45, 46, 46.5, 47}), 7);
  EXPECT_EQ(of({10, 14, 18, 22, 26, 30, 34, 38, 42, 45}), 10);
  EXPECT_EQ(of({10, 20, 30, 40, 50, 50}), 5);
  EXPECT_EQ(of({10, 20, 21, 18, 15}), 2);
  EXPECT_EQ(of({10}), 1);
  EXPECT_EQ(of({}), 0);
}

TEST(Contention, TenRanksInLockstepTakeTwiceTheTimeOfFive) {
  EXPECT_DOUBLE_EQ(phase_time(10, 50e6, 10 * kGB, 50 * kGB), 0.010);
  EXPECT_DOUBLE_EQ(phase_time(5, 50e6, 10 * kGB, 50 * kGB), 0.005);
  EXPECT_DOUBLE_EQ(phase_time(2, 50e6, 10 * kGB, 50 * kGB), 0.005);
}

}  // namespace
}  // namespace idlewave::theory
