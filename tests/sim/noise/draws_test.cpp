#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "workloads/sim/noise/counter_random.h"
#include "workloads/sim/noise/make_noise.h"

namespace idlewave::sim::noise {
namespace {

using namespace std::chrono_literals;
using support::Noise;
using wire::Rank;
using wire::Step;

// Of sqrt(n) times the Kolmogorov-Smirnov distance: a right generator is beyond it for one seed in 30 million
// (2 exp(-2 * 3^2)); with 200 000 samples a distribution function that is off by 0.0067 anywhere is beyond it.
constexpr double kBound = 3;
constexpr int kRanks = 200;
constexpr int kSteps = 1000;

std::unique_ptr<PhaseNoise> noise_of(const Noise& noise) {
  auto made = make_noise(noise);
  EXPECT_TRUE(made) << (made ? "" : made.error().message);
  return made ? std::move(*made) : nullptr;
}

std::vector<double> samples_of(const PhaseNoise& noise) {
  std::vector<double> samples;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    for (Step step = 0; step < kSteps; ++step) samples.push_back(noise.after(rank, step, 0, 1));
  }
  return samples;
}

/// sqrt(n) times the largest difference between the samples' distribution and `cdf`.
double distance(std::vector<double> samples, const std::function<double(double)>& cdf) {
  std::ranges::sort(samples);
  const auto n = static_cast<double>(samples.size());
  double largest = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double expected = cdf(samples[i]);
    largest = std::max({largest, expected - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - expected});
  }
  return largest * std::sqrt(n);
}

double mean_of(const std::vector<double>& samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double deviation_of(const std::vector<double>& samples) {
  const double mean = mean_of(samples);
  double sum = 0;
  for (const double sample : samples) sum += (sample - mean) * (sample - mean);
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

double exponential_cdf(double x) { return -std::expm1(-x); }

/// Of a whole shape: 1 - e^-x (1 + x + x^2/2 + ...), `shape` terms.
double erlang_cdf(int shape, double x) {
  double term = 1;
  double sum = 0;
  for (int i = 0; i < shape; ++i) {
    sum += term;
    term *= x / (i + 1);
  }
  return 1 - std::exp(-x) * sum;
}

TEST(Draws, AreTheSameBitsOnEveryMachine) {
  EXPECT_EQ(noise_of({support::ExponentialNoise{1s}, 1})->after(0, 0, 0, 1), 0x1.9c438c5e21446p+1);
  EXPECT_EQ(noise_of({support::ExponentialNoise{1s}, 1})->after(7, 123'456, 0, 1), 0x1.0eca6b4e90428p-3);
  EXPECT_EQ(noise_of({support::ExponentialNoise{500us}, 2})->after(999'999, Step{1} << 40, 0, 1),
            0x1.dafac5c8085c7p-14);
  EXPECT_EQ(noise_of({support::UniformNoise{1s}, 1})->after(7, 123'456, 0, 1), 0x1.c096447c40897p+0);
  EXPECT_EQ(noise_of({support::GammaNoise{2.5, 1s}, 1})->after(7, 123'456, 0, 1), 0x1.16b5218e8dc3fp+0);
  EXPECT_EQ(noise_of({support::GammaNoise{0.5, 1s}, 1})->after(7, 123'456, 0, 1), 0x1.338985729b674p+0);
  EXPECT_EQ(noise_of({support::PeriodicNoise{1ms, 10}, 1})->after(7, 0, 0, 5), 0x1.a1cac083126eap-5);
  EXPECT_EQ(noise_of({support::SystemNoise{}, 1})->after(7, 0, 0, 0.1), 0x1.dc03225ba7d8bp-14);
}

/// All bits of many draws, folded into one number: any change anywhere is a change of this.
TEST(Draws, AreTheSameBitsInLargeNumbers) {
  const auto fold = [](const Noise& noise) {
    std::uint64_t sum = 0;
    for (const double sample : samples_of(*noise_of(noise))) sum = mixed(sum + std::bit_cast<std::uint64_t>(sample));
    return sum;
  };
  EXPECT_EQ(fold({support::ExponentialNoise{1ms}, 1}), 10345435663225933383u);
  EXPECT_EQ(fold({support::GammaNoise{0.3, 1ms}, 1}), 13863403763461388737u);
}

TEST(Draws, DoNotDependOnWhoAsksWhen) {
  const auto noise = noise_of({support::GammaNoise{0.7, 1ms}, 5});
  const std::vector<double> expected = samples_of(*noise);
  std::vector<std::vector<double>> seen(4);
  std::vector<std::jthread> threads;
  for (auto& samples : seen) threads.emplace_back([&] { samples = samples_of(*noise); });
  threads.clear();
  for (const auto& samples : seen) EXPECT_EQ(samples, expected);
}

TEST(Draws, OfExponentialNoiseAreExponential) {
  for (const std::uint64_t seed : {0u, 1u, 2u, 77u}) {
    const auto samples = samples_of(*noise_of({support::ExponentialNoise{2ms}, seed}));
    EXPECT_LT(distance(samples, [](double x) { return exponential_cdf(x / 2e-3); }), kBound) << "seed " << seed;
    EXPECT_NEAR(mean_of(samples), 2e-3, 2e-3 * 0.012) << "seed " << seed;
    EXPECT_NEAR(deviation_of(samples), 2e-3, 2e-3 * 0.02) << "seed " << seed;
  }
}

TEST(Draws, OfUniformNoiseAreUniform) {
  const auto samples = samples_of(*noise_of({support::UniformNoise{2ms}, 3}));
  EXPECT_LT(distance(samples, [](double x) { return x / 4e-3; }), kBound);
  EXPECT_LT(std::ranges::max(samples), 4e-3);
  EXPECT_GT(std::ranges::min(samples), 0);
  EXPECT_NEAR(deviation_of(samples), 4e-3 / std::sqrt(12), 4e-3 * 0.004);
}

TEST(Draws, OfGammaNoiseAreGammaDistributed) {
  const auto scaled = [](double shape) { return [=](double x) { return x * shape / 1e-3; }; };
  for (const int shape : {1, 2, 7, 20}) {
    const auto samples = samples_of(*noise_of({support::GammaNoise{static_cast<double>(shape), 1ms}, 4}));
    const auto scale = scaled(shape);
    EXPECT_LT(distance(samples, [&](double x) { return erlang_cdf(shape, scale(x)); }), kBound) << "shape " << shape;
    EXPECT_NEAR(deviation_of(samples), 1e-3 / std::sqrt(shape), 0.02e-3) << "shape " << shape;
  }
  const auto samples = samples_of(*noise_of({support::GammaNoise{0.5, 1ms}, 4}));
  const auto scale = scaled(0.5);
  EXPECT_LT(distance(samples, [&](double x) { return std::erf(std::sqrt(scale(x))); }), kBound);
}

TEST(Draws, OfAnyShapeHaveItsMeanAndDeviation) {
  for (const double shape : {0.05, 0.3, 0.99, 1.5, 300.0, 1e6}) {
    const auto samples = samples_of(*noise_of({support::GammaNoise{shape, 1s}, 4}));
    const double deviation = 1 / std::sqrt(shape);
    EXPECT_NEAR(mean_of(samples), 1, 5 * deviation / std::sqrt(kRanks * kSteps)) << "shape " << shape;
    EXPECT_NEAR(deviation_of(samples), deviation, 0.06 * deviation) << "shape " << shape;
  }
}

/// That the bound above is worth something.
TEST(Draws, OfNeighbouringDistributionsAreToldApart) {
  const auto gamma = samples_of(*noise_of({support::GammaNoise{1.05, 1s}, 4}));
  EXPECT_GT(distance(gamma, exponential_cdf), kBound);
  const auto exponential = samples_of(*noise_of({support::ExponentialNoise{1020ms}, 4}));
  EXPECT_GT(distance(exponential, exponential_cdf), kBound);
}

TEST(Draws, OfRareNoiseAreHitAsOftenAsAskedFor) {
  const auto samples = samples_of(*noise_of({support::RareNoise{0.01, 20ms}, 6}));
  const auto hits = std::ranges::count(samples, 20e-3);
  EXPECT_EQ(hits + std::ranges::count(samples, 0.0), kRanks * kSteps);
  EXPECT_NEAR(static_cast<double>(hits), 2000, 5 * std::sqrt(2000));
  EXPECT_EQ(std::ranges::count(samples_of(*noise_of({support::RareNoise{1, 20ms}, 6})), 20e-3), kRanks * kSteps);
}

/// Of u at (rank, step) and at (rank + by, step + by), over all places.
double correlation(const PhaseNoise& noise, const PhaseNoise& other, Rank ranks, Step steps) {
  std::vector<double> a, b;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    for (Step step = 0; step < kSteps; ++step) {
      a.push_back(noise.after(rank, step, 0, 1));
      b.push_back(other.after(rank + ranks, step + steps, 0, 1));
    }
  }
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size()) / deviation_of(a) / deviation_of(b);
}

TEST(Draws, OfDifferentRanksStepsAndSeedsAreIndependent) {
  const double bound = 5 / std::sqrt(kRanks * kSteps);
  const auto noise = noise_of({support::UniformNoise{1s}, 1});
  for (const auto& [ranks, steps] : std::vector<std::pair<Rank, Step>>{
           {0, 1}, {1, 0}, {1, 1}, {0, 2}, {2, 0}, {1, -1}, {0, 1024}, {1 << 16, 0}, {1000, 1000}}) {
    EXPECT_LT(std::abs(correlation(*noise, *noise, ranks, steps)), bound) << ranks << " ranks, " << steps << " steps";
  }
  const auto next = noise_of({support::UniformNoise{1s}, 2});
  EXPECT_LT(std::abs(correlation(*noise, *next, 0, 0)), bound);
  EXPECT_LT(std::abs(correlation(*noise, *next, 1, 0)), bound);
}

/// Pairs of neighbours in a grid of 16 x 16 cells: chi-square, 255 degrees of freedom.
TEST(Draws, OfNeighboursFillThePlaneEvenly) {
  const auto noise = noise_of({support::UniformNoise{500ms}, 9});
  for (const auto& [ranks, steps] : std::vector<std::pair<Rank, Step>>{{0, 1}, {1, 0}, {1, 1}}) {
    std::vector<double> cells(256);
    for (Rank rank = 0; rank < kRanks; ++rank) {
      for (Step step = 0; step < kSteps; ++step) {
        const auto x = static_cast<std::size_t>(16 * noise->after(rank, step, 0, 1));
        const auto y = static_cast<std::size_t>(16 * noise->after(rank + ranks, step + steps, 0, 1));
        ++cells[16 * x + y];
      }
    }
    const double expected = kRanks * kSteps / 256.0;
    double chi_square = 0;
    for (const double count : cells) chi_square += (count - expected) * (count - expected) / expected;
    EXPECT_NEAR(chi_square, 255, 5 * std::sqrt(2 * 255.0)) << ranks << " ranks, " << steps << " steps";
  }
}

TEST(Draws, ChangeHalfTheirBitsWhenOneBitOfThePlaceChanges) {
  double changed = 0;
  int pairs = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    for (int bit = 0; bit < 47; ++bit, ++pairs) {
      const std::uint64_t here = bits_at(key_of(1), i, 17 * i);
      changed += std::popcount(here ^ bits_at(key_of(1), i, (17 * i) ^ (std::uint64_t{1} << bit)));
      changed += std::popcount(here ^ bits_at(key_of(1), i ^ (std::uint64_t{1} << (bit % 31)), 17 * i));
    }
  }
  EXPECT_NEAR(changed / (2 * pairs), 32, 5 * 4 / std::sqrt(2 * pairs));
}

TEST(MakeNoise, IsNullWhereThereIsNone) {
  EXPECT_EQ(noise_of({}), nullptr);
  EXPECT_EQ(noise_of({support::ExponentialNoise{0s}, 1}), nullptr);
  EXPECT_EQ(noise_of({support::RareNoise{0, 1s}, 1}), nullptr);
  EXPECT_EQ(noise_of({support::PeriodicNoise{0s, 1}, 1}), nullptr);
}

TEST(MakeNoise, RefusesWhatTheScenarioWouldRefuse) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(make_noise({support::ExponentialNoise{-1s}, 1}));
  EXPECT_FALSE(make_noise({support::GammaNoise{nan, 1s}, 1}));
  EXPECT_FALSE(make_noise({support::RareNoise{1.1, 1s}, 1}));
  EXPECT_FALSE(make_noise({support::PeriodicNoise{1s, 1}, 1}));
  EXPECT_FALSE(make_noise({support::PeriodicNoise{1s, nan}, 1}));
  EXPECT_FALSE(make_noise({support::TraceNoise{"x.csv"}, 1}));
}

}  // namespace
}  // namespace idlewave::sim::noise
