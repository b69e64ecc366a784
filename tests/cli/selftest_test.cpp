#include "monitor/cli/selftest.h"
#include "tests/any_seed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace idlewave::cli {
namespace {

/// Of programs that run for a second or so, and for `effect` longer when they are watched, each run off by `scatter`.
std::vector<Turn> turns_of(double effect, double scatter, std::size_t count, std::mt19937& random) {
  std::normal_distribution<double> off(0, scatter);
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < count; ++i)
    turns.push_back({Nanoseconds(std::llround(1e9 * (1 + off(random)))),
                     Nanoseconds(std::llround(1e9 * (1 + effect) * (1 + off(random))))});
  return turns;
}

TEST(Selftest, OfRunsThatScatterTheDifferenceIsWithinItsErrors) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> effects(-0.02, 0.1);
  for (int i = 0; i < 100; ++i) {
    constexpr double kScatter = 0.01;
    constexpr std::size_t kTurns = 40;
    const double truth = effects(random);
    const Effect found = effect_of(turns_of(truth, kScatter, kTurns, random));
    const double error = std::sqrt(2.0 / kTurns) * kScatter;  // Of both runs of a turn.
    EXPECT_NEAR(found.difference, truth, 6 * error);
    ASSERT_TRUE(found.error);
    EXPECT_NEAR(*found.error, error, 0.6 * error);
  }
}

TEST(Selftest, AnEffectIsSeenOnlyBeyondTheScatter) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937 random(seed);
  int seen = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_TRUE(effect_of(turns_of(0.05, 0.01, 20, random)).is_seen());
    seen += effect_of(turns_of(0, 0.01, 20, random)).is_seen();
  }
  EXPECT_LT(seen, 40);  // Of 200 some 12 by chance.
}

TEST(Selftest, OneTurnTellsNoError) {
  const std::vector<Turn> one = {{std::chrono::seconds(2), std::chrono::seconds(3)}};
  EXPECT_DOUBLE_EQ(effect_of(one).difference, 0.5);
  EXPECT_FALSE(effect_of(one).error);
  EXPECT_FALSE(effect_of(one).is_seen());
  EXPECT_NE(effect_json(one).find("\"difference_error\": null"), std::string::npos);
  EXPECT_EQ(effect_in_words(one), "watched: +50.00 % (of one turn, which tells no error)");
}

}  // namespace
}  // namespace idlewave::cli
