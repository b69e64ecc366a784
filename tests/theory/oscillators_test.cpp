#include "monitor/theory/oscillators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "monitor/theory/phase_order.h"

namespace idlewave::theory {
namespace {

using std::numbers::pi;
using Phases = std::vector<double>;

constexpr int kBoth[] = {-1, 1};

Oscillators coupled(int ranks, bool ring, Interaction interaction, double coupling) {
  return {.partners = topology(ranks, kBoth, ring), .interaction = interaction, .coupling = coupling};
}

void run(const Oscillators& oscillators, const Phases& frequencies, double time, int steps, Phases& phases) {
  for (int i = 0; i < steps; ++i) advance(oscillators, frequencies, time / steps, phases);
}

/// Prints the seed of what it draws.
class Oscillating : public testing::TestWithParam<unsigned> {
 protected:
  void SetUp() override { RecordProperty("seed", int(GetParam())); }
  double draw(double from, double to) { return std::uniform_real_distribution<double>(from, to)(random_); }
  Phases draws(int count, double from, double to) {
    Phases drawn(static_cast<std::size_t>(count));
    for (double& each : drawn) each = draw(from, to);
    return drawn;
  }
  std::string seed() const { return "seed " + std::to_string(GetParam()); }

 private:
  std::mt19937 random_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Seeds, Oscillating, testing::Range(1u, 9u));

/// d' = -2 K V(d), integrated: of sin, tan(d / 2) decays; of tanh, sinh(d); of the third, tan(a d / 2) grows.
TEST_P(Oscillating, TwoOfOneFrequencyFollowTheClosedForm) {
  const double coupling = draw(0.1, 1), time = draw(0.5, 3), frequency = draw(1, 10);
  const auto distance = [&](Interaction interaction, double before) {
    Phases phases{0, before};
    run(coupled(2, false, interaction, coupling), {frequency, frequency}, time, 4000, phases);
    return phases[1] - phases[0];
  };
  const double decay = std::exp(-2 * coupling * time);
  const double before = draw(0.1, 3);
  EXPECT_NEAR(distance({Potential::kKuramoto, 0}, before), 2 * std::atan(std::tan(before / 2) * decay), 1e-10)
      << seed();
  EXPECT_NEAR(distance({Potential::kScalable, 0}, before), std::asinh(std::sinh(before) * decay), 1e-10) << seed();
  const double sigma = draw(0.5, 5), number = 1.5 * pi / sigma, near = draw(0.01, 0.6) * sigma;
  const double grown = 2 / number * std::atan(std::tan(number * near / 2) / std::pow(decay, number));
  EXPECT_NEAR(distance({Potential::kBottlenecked, sigma}, near), grown, 1e-9) << seed();
  // Beyond sigma the pull is constant.
  const double far = sigma + 2 * coupling * time + 0.1;
  EXPECT_NEAR(distance({Potential::kBottlenecked, sigma}, far), far - 2 * coupling * time, 1e-10) << seed();
}

/// d' = w - P sin d with P = 2 K: u = tan(d / 2) follows u' = w / 2 (u^2 + 1) - P u, integrated from 0. Where w is larger
/// it slips on, else it comes to rest at the smaller root.
TEST_P(Oscillating, TwoOfDifferentFrequenciesSlipOrLockAsTheClosedFormSays) {
  const double coupling = draw(0.2, 1), pulled = 2 * coupling;
  const auto distance = [&](double apart, double time) {
    Phases phases{0, 0};
    run(coupled(2, false, {Potential::kKuramoto, 0}, coupling), {5, 5 + apart}, time, 4000, phases);
    return phases[1] - phases[0];
  };
  const double fast = pulled * draw(1.2, 3), root = std::sqrt(fast * fast - pulled * pulled), time = 0.5 / root;
  const double slipped = (pulled + root * std::tan(root * time / 2 - std::atan(pulled / root))) / fast;
  EXPECT_NEAR(distance(fast, time), 2 * std::atan(slipped), 1e-10) << seed();

  const double slow = pulled * draw(0.1, 0.9), apart = std::sqrt(pulled * pulled - slow * slow);
  const double rest = (pulled - apart) / slow, other = (pulled + apart) / slow;
  for (const double later : {0.5 / apart, 3 / apart}) {
    const double share = rest / other * std::exp(-apart * later);
    EXPECT_NEAR(distance(slow, later), 2 * std::atan((rest - share * other) / (1 - share)), 1e-9) << seed();
  }
  EXPECT_NEAR(distance(slow, 60 / apart), std::asin(slow / pulled), 1e-9) << seed() << ": locked";
}

/// Of equal oscillators near lockstep each mode of the Laplacian dies by K times its eigenvalue, or grows by that times the
/// potential's slope: 2 - 2 cos(2 pi k / N) on a ring (circulant), 2 - 2 cos(pi k / N) on a chain (path).
TEST_P(Oscillating, ModesOfARingAndAChainDieOrGrowByTheirEigenvalues) {
  constexpr double kSmall = 1e-6;
  const int ranks = 3 + int(draw(0, 20)), mode = 1 + int(draw(0, (ranks - 1) / 2.0));
  const double coupling = draw(0.1, 1), sigma = draw(0.5, 5), frequency = draw(1, 10);
  for (const bool ring : {true, false}) {
    const double angle = (ring ? 2 : 1) * pi * mode / ranks, eigenvalue = 2 - 2 * std::cos(angle);
    Phases shape;
    for (int rank = 0; rank < ranks; ++rank) shape.push_back(kSmall * std::cos(angle * (rank + 0.5)));
    for (const Potential potential : {Potential::kScalable, Potential::kKuramoto, Potential::kBottlenecked}) {
      const double slope = potential == Potential::kBottlenecked ? -1.5 * pi / sigma : 1;
      // Where modes grow, none may grow so much that what was rounded is seen: 4 is the bound of the eigenvalues.
      const double time = 1 / (coupling * std::abs(slope) * (slope > 0 ? eigenvalue : 1));
      Phases phases = shape;
      run(coupled(ranks, ring, {potential, sigma}, coupling), Phases(shape.size(), frequency), time, 2000, phases);
      const double factor = std::exp(-coupling * slope * eigenvalue * time);
      for (std::size_t rank = 0; rank < shape.size(); ++rank)
        EXPECT_NEAR(phases[rank] - frequency * time, factor * shape[rank], 1e-4 * kSmall) << seed() << " rank " << rank;
    }
  }
}

TEST_P(Oscillating, WhoAreCoupledBothWaysKeepTheirMeanFrequency) {
  const int ranks = 2 + int(draw(0, 30));
  const Phases frequencies = draws(ranks, 1, 10), before = draws(ranks, -10, 10);
  const auto mean = [](const Phases& of) { return std::accumulate(of.begin(), of.end(), 0.0) / double(of.size()); };
  for (const Potential potential : {Potential::kScalable, Potential::kKuramoto, Potential::kBottlenecked}) {
    Phases phases = before;
    run(coupled(ranks, false, {potential, 2}, 0.5), frequencies, 3, 300, phases);
    EXPECT_NEAR(mean(phases) - mean(before), 3 * mean(frequencies), 1e-10) << seed();
  }
}

/// 2310.05701: the first zero of eq. 4 beyond lockstep is stable, lockstep is not.
TEST_P(Oscillating, BottleneckedNeighboursComeToRestTwoThirdsOfSigmaApart) {
  const double sigma = draw(0.5, 5), rest = resting_distance(sigma);
  EXPECT_DOUBLE_EQ(rest, 2 * sigma / 3);
  const Oscillators chain = coupled(6, false, {Potential::kBottlenecked, sigma}, 1);
  Phases splayed{0, rest, 2 * rest, rest, 2 * rest, 3 * rest};
  const Phases before = splayed;
  run(chain, Phases(6, 0), 1, 100, splayed);
  for (std::size_t rank = 0; rank < 6; ++rank) EXPECT_NEAR(splayed[rank], before[rank], 1e-12) << seed();

  Phases disturbed = draws(6, -0.01, 0.01);
  run(chain, Phases(6, 0), 40 * sigma, 8000, disturbed);
  for (std::size_t rank = 1; rank < 6; ++rank)
    EXPECT_NEAR(std::abs(disturbed[rank] - disturbed[rank - 1]), rest, 1e-6) << seed() << " rank " << rank;
}

/// Halving the step divides the error by 16.
TEST_P(Oscillating, AreIntegratedToTheFourthOrder) {
  const Phases frequencies = draws(8, 1, 3), before = draws(8, -3, 3);
  const auto after = [&](int steps) {
    Phases phases = before;
    run(coupled(8, true, {Potential::kKuramoto, 0}, 0.6), frequencies, 4, steps, phases);
    return phases;
  };
  const Phases coarse = after(64), middle = after(128), fine = after(256);
  double first = 0, second = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    first += std::pow(coarse[i] - middle[i], 2);
    second += std::pow(middle[i] - fine[i], 2);
  }
  EXPECT_NEAR(std::log2(std::sqrt(first / second)), 4, 0.35) << seed();
}

TEST(Topology, IsWhomARankReceivesFrom) {
  using Partners = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(topology(3, kBoth, true), (Partners{{1, 2}, {0, 2}, {0, 1}}));
  EXPECT_EQ(topology(3, kBoth, false), (Partners{{1}, {0, 2}, {1}}));
  EXPECT_EQ(topology(3, std::vector{1}, false), (Partners{{}, {0}, {1}}));
  EXPECT_EQ(topology(2, kBoth, true), (Partners{{1}, {0}})) << "once, though by two distances";
}

TEST(Coupling, GrowsWithProtocolAndDistances) {
  const std::vector distances{-2, -1, 1};
  EXPECT_DOUBLE_EQ(coupling_strength(distances, false, false, 0.5), 4);
  EXPECT_DOUBLE_EQ(coupling_strength(distances, true, false, 0.5), 8);
  EXPECT_DOUBLE_EQ(coupling_strength(distances, false, true, 0.5), 8);
  EXPECT_DOUBLE_EQ(coupling_strength(distances, true, true, 0.5), 16);
}

TEST_P(Oscillating, NoiseLengthensPeriodsByItsMeanAndIsTheSameAgain) {
  const Oscillators alone{.partners = topology(200, {}, false), .interaction = {}, .coupling = 0};
  const auto course = [&](std::uint64_t drawn) {
    return phases_over(alone, {.mean_noise = 0.1, .seed = drawn}, 1, 500, 4, 11, Phases(200, 0));
  };
  const auto once = course(GetParam());
  ASSERT_EQ(once.size(), 11u);
  EXPECT_EQ(once.front().at, 0);
  EXPECT_EQ(once.back().at, 500);
  EXPECT_EQ(once.back().phases, course(GetParam()).back().phases);
  EXPECT_NE(once.back().phases, course(GetParam() + 1).back().phases);
  // The mean of 1 / (1 + x), x exponential of mean 0.1: by the midpoint rule. 100 000 draws of deviation below 0.1.
  double expected = 0;
  for (int i = 0; i < 100'000; ++i) expected += 1 / (1 - 0.1 * std::log((i + 0.5) / 100'000)) / 100'000;
  const Phases& last = once.back().phases;
  const double mean = std::accumulate(last.begin(), last.end(), 0.0) / (2 * pi * 200 * 500);
  EXPECT_NEAR(mean, expected, 6 * 0.1 / std::sqrt(100'000)) << seed();
}

/// The program of 2310.05701 that is put in order by tanh, beside the figures that are taken of runs.
TEST(PhaseOrders, OfOscillatorsThatAreCoupledGoToLockstep) {
  const Oscillators ring = coupled(8, true, {Potential::kScalable, 0}, 0.25);
  Phases late(8, 0);
  late[3] = -pi;
  const auto course = phases_over(ring, {}, 1, 100, 10, 5, late);
  ASSERT_EQ(course.size(), 5u);
  const auto order = [](Phases phases) {
    for (double& each : phases) each /= 2 * pi;
    return phase_order(phases);
  };
  EXPECT_NEAR(order(course.front().phases).parameter, 6.0 / 8, 1e-12);
  EXPECT_NEAR(order(course.front().phases).gradient, 2 * pi / 7, 1e-12);
  EXPECT_NEAR(order(course.back().phases).parameter, 1, 1e-9);
}

}  // namespace
}  // namespace idlewave::theory
