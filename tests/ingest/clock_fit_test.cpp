#include "monitor/ingest/clock_fit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "tests/any_seed.h"
#include "tests/ingest/simulated_clocks.h"

namespace idlewave::ingest {
namespace {

using std::chrono::microseconds;
using std::chrono::seconds;
using timeline::ClockCurve;

ClockSample sample_of(const wire::RoundTrip& trip) {
  const Nanoseconds there = trip.heard + (trip.told - trip.heard) / 2, at = trip.asked + (trip.back - trip.asked) / 2;
  return {at, at - there, ((trip.back - trip.asked) - (trip.told - trip.heard)) / 2 + Nanoseconds(1)};
}

/// What two clocks that nobody could look at would show: how far the one is ahead of the other.
Nanoseconds true_offset(const SimulatedClock& node, const SimulatedClock& reference, double true_s) {
  return node.at(true_s) - reference.at(true_s);
}

/// The same sums by the book: all equations in one full matrix, solved by Gauss with pivots.
std::vector<double> solved_slowly(std::span<const ClockSample> samples, Nanoseconds spacing) {
  const Nanoseconds begin = samples.front().at;
  const auto knots = std::size_t((samples.back().at - begin).count() / spacing.count()) + 2;
  const double h = double(spacing.count()) * 1e-9;
  std::vector<std::vector<double>> rows;  // Each: coefficients, and the value.
  double least = 1e300;
  for (const ClockSample& sample : samples) least = std::min(least, double(sample.half.count()));
  for (const ClockSample& sample : samples) {
    const double place = double((sample.at - begin).count()) / double(spacing.count());
    const double spread = std::max(1000.0, least / 4) + double(sample.half.count()) - least;
    std::vector<double> row(knots + 1, 0.0);
    for (std::size_t k = 0; k < knots; ++k) row[k] = std::max(0.0, 1 - std::abs(place - double(k))) / spread;
    row[knots] = double((sample.offset - samples.front().offset).count()) / spread;
    rows.push_back(row);
  }
  std::vector<double> usual(knots + 1, 0.0);
  usual[0] = -1 / (2e5 * h), usual[1] = 1 / (2e5 * h);
  rows.push_back(usual);
  for (std::size_t k = 0; k + 2 < knots; ++k) {
    std::vector<double> bend(knots + 1, 0.0);
    const double spread = std::sqrt(1e4 * h * h * h);
    bend[k] = bend[k + 2] = 1 / spread, bend[k + 1] = -2 / spread;
    rows.push_back(bend);
  }
  std::vector<std::vector<double>> matrix(knots, std::vector<double>(knots + 1, 0.0));
  for (const auto& row : rows)
    for (std::size_t i = 0; i < knots; ++i)
      for (std::size_t j = 0; j <= knots; ++j) matrix[i][j] += row[i] * row[j];
  for (std::size_t i = 0; i < knots; ++i) {
    std::size_t pivot = i;
    for (std::size_t j = i; j < knots; ++j)
      if (std::abs(matrix[j][i]) > std::abs(matrix[pivot][i])) pivot = j;
    std::swap(matrix[i], matrix[pivot]);
    for (std::size_t j = 0; j < knots; ++j) {
      if (j == i) continue;
      const double factor = matrix[j][i] / matrix[i][i];
      for (std::size_t k = i; k <= knots; ++k) matrix[j][k] -= factor * matrix[i][k];
    }
  }
  std::vector<double> solution;
  for (std::size_t i = 0; i < knots; ++i) solution.push_back(matrix[i][knots] / matrix[i][i]);
  return solution;
}

std::vector<ClockSample> samples_over(double length_s, double period_s, const SimulatedClock& node,
                                      const SimulatedClock& reference, const Ways& ways, std::mt19937_64& random) {
  std::vector<ClockSample> samples;
  for (double at = 0.1; at < length_s; at += period_s)
    if (const auto trip = round_trip(node, reference, at, ways, random)) samples.push_back(sample_of(*trip));
  return samples;
}

TEST(ClockFit, IsTheOneThatAFullMatrixGives) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 40; ++round) {
    const SimulatedClock node(random, 60), reference(random, 60);
    const auto samples = samples_over(std::uniform_real_distribution<double>(3, 50)(random), 0.7, node, reference,
                                      {.lost = 0.3}, random);
    if (samples.size() < 2) continue;
    const Nanoseconds spacing = std::chrono::milliseconds(500 + random() % 3000);
    if (samples.back().at - samples.front().at < spacing) continue;
    const ClockCurve curve = fit_clock(samples, spacing);
    const std::vector<double> slow = solved_slowly(samples, spacing);
    ASSERT_EQ(curve.knots.size(), slow.size());
    for (std::size_t i = 0; i < slow.size(); ++i) {
      EXPECT_EQ(curve.knots[i].at, samples.front().at + spacing * std::int64_t(i));
      EXPECT_NEAR(double((curve.knots[i].offset - samples.front().offset).count()), slow[i], 2.0) << "knot " << i;
    }
  }
}

TEST(ClockFit, NeverIsFartherFromTheTruthThanItSays) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 60; ++round) {
    const double length = std::uniform_real_distribution<double>(2, 120)(random);
    const Ways ways{.least_s = std::uniform_real_distribution<double>(5e-6, 500e-6)(random),
                    .asymmetry_s = round % 2 ? std::uniform_real_distribution<double>(0, 300e-6)(random) : 0,
                    .jitter_s = std::uniform_real_distribution<double>(5e-6, 2e-3)(random),
                    .lost = std::uniform_real_distribution<double>(0, 0.9)(random)};
    const SimulatedClock node(random, length, 3e-8), reference(random, length, 3e-8);
    const auto samples = samples_over(length, 1, node, reference, ways, random);
    if (samples.empty()) continue;
    const ClockCurve curve = fit_clock(samples, seconds(1));
    const Nanoseconds error = error_of(curve, samples);
    const double from = double((samples.front().at - node.at(0)).count()) * 1e-9;
    const double to = double((samples.back().at - node.at(0)).count()) * 1e-9;
    for (double at = from; at < to; at += length / 997)
      ASSERT_LE(std::chrono::abs(curve.offset_at(node.at(at)) - true_offset(node, reference, at)), error)
          << "round " << round << ", at " << at << " s of " << length;
  }
}

TEST(ClockFit, IsBetterThanTheShortestTripWhereTheWaysAreAlike) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    const SimulatedClock node(random, 40, 1e-8), reference(random, 40, 1e-8);
    std::vector<ClockSample> samples;
    // As an agent tells them: of many questions a second the shortest trip.
    for (int second = 0; second < 30; ++second) {
      std::optional<ClockSample> shortest;
      for (int i = 0; i < 20; ++i) {
        const ClockSample each =
            sample_of(*round_trip(node, reference, second + i / 20.0, {.jitter_s = 200e-6}, random));
        if (!shortest || each.half < shortest->half) shortest = each;
      }
      samples.push_back(*shortest);
    }
    const ClockCurve curve = fit_clock(samples, seconds(1));
    for (double at = 1; at < 29; at += 0.5)
      ASSERT_LE(std::chrono::abs(curve.offset_at(node.at(at)) - true_offset(node, reference, at)), microseconds(50));
  }
}

TEST(ClockFit, GoesOnStraightWhereALinkWasCut) {
  const std::uint64_t seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    const SimulatedClock node(random, 60, 1e-8), reference(random, 60, 1e-8);
    const Ways ways{.jitter_s = 10e-6};
    std::vector<ClockSample> samples;
    for (double at = 0.1; at < 40; at += 1)
      if (at < 15 || at > 22) samples.push_back(sample_of(*round_trip(node, reference, at, ways, random)));
    const ClockCurve curve = fit_clock(samples, seconds(1));
    const Nanoseconds error = error_of(curve, samples);
    EXPECT_LT(error, microseconds(200));
    for (double at = 14; at < 23; at += 0.1)
      ASSERT_LE(std::chrono::abs(curve.offset_at(node.at(at)) - true_offset(node, reference, at)), error);
  }
}

TEST(ClockFit, SaysOfOneTripWhatOneTripTells) {
  const ClockSample sample{seconds(5), microseconds(123), microseconds(40)};
  const ClockCurve curve = fit_clock({&sample, 1}, seconds(1));
  EXPECT_EQ(curve.offset_at(seconds(500)), microseconds(123));
  EXPECT_GT(error_of(curve, {&sample, 1}), microseconds(40));
}

TEST(ClockFit, FollowsAClockThatJumpsNoFasterThanTimeMayBeBent) {
  std::vector<ClockSample> samples;
  for (int i = 0; i < 60; ++i) samples.push_back({seconds(i), i < 30 ? seconds(0) : seconds(3600), microseconds(30)});
  const ClockCurve curve = fit_clock(samples, seconds(1));
  for (std::size_t i = 1; i < curve.knots.size(); ++i)
    EXPECT_LE(std::chrono::abs(curve.knots[i].offset - curve.knots[i - 1].offset), std::chrono::milliseconds(16));
  EXPECT_GT(error_of(curve, samples), seconds(3000)) << "and it says how wrong that is";
}

}  // namespace
}  // namespace idlewave::ingest
