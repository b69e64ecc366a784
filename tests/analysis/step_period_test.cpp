#include "monitor/analysis/steps/step_period.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <vector>

#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

/// Of a step that is ten long.
constexpr float kContrast = 2.5F;

class StepPeriod : public testing::Test {
 protected:
  std::vector<float> steps_of(const std::function<float(std::size_t)>& level, float noise = 0.5F) {
    std::vector<float> steps;
    for (std::size_t i = 0; i < steps::kValuesForPeriod; ++i)
      steps.push_back(level(i) + std::exponential_distribution<float>(1 / noise)(random_));
    return steps;
  }
  std::mt19937 random_{any_seed()};
};

std::function<float(std::size_t)> longer_every(std::size_t period) {
  return [period](std::size_t i) { return i % period == 0 ? 40.F : 10.F; };
}

TEST_F(StepPeriod, IsThatOfStepsOfWhichEverySoManyThIsLonger) {
  for (std::size_t period = 2; period <= steps::kLongestPeriod; ++period)
    EXPECT_EQ(steps::step_period(steps_of(longer_every(period)), kContrast), period);
}

TEST_F(StepPeriod, IsThatOfTheWholeCycle) {
  constexpr std::array kLevels{4.F, 8.F, 4.F, 16.F, 4.F, 8.F, 4.F, 32.F};
  EXPECT_EQ(steps::step_period(steps_of([&](std::size_t i) { return kLevels[i % 8]; }), kContrast), 8U);
}

TEST_F(StepPeriod, IsTheShortestThatThereIs) {
  EXPECT_EQ(steps::step_period(steps_of(longer_every(2)), kContrast), 2U);
  EXPECT_EQ(steps::step_period(steps_of(longer_every(4)), kContrast), 4U);
}

TEST_F(StepPeriod, IsNotHiddenByTwoStepsThatAreMuchLonger) {
  std::vector<float> steps = steps_of(longer_every(2));
  steps[41] += 150;
  steps[52] += 90;
  EXPECT_EQ(steps::step_period(steps, kContrast), 2U);
}

TEST_F(StepPeriod, IsOneOfFewSteps) {
  const std::vector<float> steps = steps_of(longer_every(2));
  EXPECT_EQ(steps::step_period(std::span(steps).first(31), kContrast), 1U);
  EXPECT_EQ(steps::step_period(std::span(steps).first(32), kContrast), 2U);
}

TEST_F(StepPeriod, IsOneWhereKindsOfStepsAreHardlyUnlike) {
  EXPECT_EQ(steps::step_period(steps_of([](std::size_t i) { return i % 2 == 0 ? 10.F : 12.F; }, 0.1F), kContrast), 1U);
}

/// Noise has grown, or more delays have come.
TEST_F(StepPeriod, IsKeptOnWeakerEvidence) {
  const auto level = [](std::size_t i) { return float(10 * (i % 2)) + float(i % 3 == 0) * 7; };
  const std::vector<float> steps = steps_of(level);
  EXPECT_EQ(steps::step_period(steps, kContrast), 6U);
  std::vector<float> noisy = steps_of(longer_every(2));
  for (std::size_t i = 0; i < noisy.size(); i += 7) noisy[i] += 30;
  EXPECT_EQ(steps::step_period(noisy, kContrast), 1U);
  EXPECT_EQ(steps::step_period(noisy, kContrast, 2), 2U);
}

/// Drawn for each step: of light and of heavy tails, and such as hits few steps, all of them alike.
TEST_F(StepPeriod, IsOneInNoise) {
  constexpr int kWindows = 2000;
  const auto gamma = [&](float shape) {
    return [this, shape] { return std::gamma_distribution<float>(shape, 10 / shape)(random_); };
  };
  const auto rare = [&](double hit) {
    return [this, hit] { return std::bernoulli_distribution(hit)(random_) ? 10.F : 0.F; };
  };
  const std::vector<std::function<float()>> noises = {
      gamma(0.05F), gamma(0.2F),
      gamma(1),     gamma(4),
      rare(0.05),   rare(0.1),
      rare(0.2),    rare(0.3),
      rare(0.5),    [this] { return std::uniform_real_distribution<float>(0, 20)(random_); }};
  int found = 0;
  std::vector<float> steps(steps::kValuesForPeriod);
  for (const auto& noise : noises)
    for (int i = 0; i < kWindows; ++i) {
      std::ranges::generate(steps, noise);
      found += steps::step_period(steps, 0.01F) > 1;
    }
  EXPECT_LE(found, 1);  // Of four million two had one.
}

}  // namespace
}  // namespace idlewave::analysis
