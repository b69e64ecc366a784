#include "monitor/cli/calibration/fit.h"

#include <gtest/gtest.h>

#include "monitor/theory/contention.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "tests/cli/calibration/random_curves.h"

namespace idlewave::cli::calibration {
namespace {

constexpr int kRepeats = 11;

TEST(Fit, OfMeasurementsWithoutErrorIsTheCurve) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 100; ++trial) {
    const auto curve = test::any_curve(random);
    const Fit found = fit(test::measured(curve, kRepeats, 0, random));
    ASSERT_EQ(found.curve.size(), curve.size());
    for (std::size_t n = 0; n < curve.size(); ++n) EXPECT_NEAR(found.curve[n], curve[n], 1e-3 * curve[n]);
    EXPECT_EQ(found.saturation_point.value, theory::saturation_point(found.curve));
    EXPECT_EQ(found.scatter, 0);
  }
}

TEST(Fit, IntervalsHoldTheTruthOfMostRandomMachines) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  constexpr int kTrials = 100;
  int core = 0, saturated = 0, point = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto curve = test::any_curve(random);
    const Fit found = fit(test::measured(curve, kRepeats, 0.01, random));
    const auto holds = [](const Estimate& estimate, double truth) {
      return estimate.low <= truth && truth <= estimate.high;
    };
    core += holds(found.core, curve.front());
    saturated += holds(found.saturated, std::ranges::max(curve));
    point += holds(found.saturation_point, theory::saturation_point(curve));
    EXPECT_NEAR(found.saturated.value, std::ranges::max(curve), 0.02 * found.saturated.value);
  }
  RecordProperty("core", core);
  RecordProperty("saturated", saturated);
  RecordProperty("point", point);
  EXPECT_GT(core, kTrials * 8 / 10);
  // The largest of many medians that are as large is too large by chance.
  EXPECT_GT(saturated, kTrials * 7 / 10);
  EXPECT_GT(point, kTrials * 8 / 10);
}

TEST(Fit, IntervalsNarrowWithMoreRepeats) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  double few = 0, many = 0;
  for (int trial = 0; trial < 30; ++trial) {
    const auto curve = test::any_curve(random);
    const auto width = [&](int repeats) {
      const Fit found = fit(test::measured(curve, repeats, 0.02, random));
      return (found.core.high - found.core.low) / found.core.value;
    };
    few += width(5);
    many += width(80);
  }
  EXPECT_LT(many, few / 2);
}

TEST(Fit, ARepeatInTenThatWasDisturbedChangesNothing) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 50; ++trial) {
    const auto curve = test::any_curve(random);
    auto repeats = test::measured(curve, kRepeats, 0.002, random);
    for (auto& of_n : repeats) of_n[random() % of_n.size()] *= 0.4;
    const Fit found = fit(repeats);
    EXPECT_NEAR(found.core.value, curve.front(), 0.01 * curve.front());
    EXPECT_NEAR(found.saturated.value, std::ranges::max(curve), 0.01 * found.saturated.value);
    EXPECT_LT(found.scatter, 0.1);
  }
}

TEST(Fit, NamesTheNumberOfCoresWhoseRepeatsScatterMost) {
  const Fit found = fit({{10, 10, 10, 10}, {15, 19, 22, 25}, {30, 30, 31, 31}});
  EXPECT_EQ(found.most_scattered, 2);
  EXPECT_GT(found.scatter, 0.2);
}

}  // namespace
}  // namespace idlewave::cli::calibration
