#include "monitor/analysis/domains/wavefront.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using testing::ElementsAre;

/// 40 ranks on four domains, steps of 10 ms, each rank late by so many milliseconds, give or take some.
template <class Lateness>
domains::Wavefront front_with(Lateness lateness, double noise_ms = 0) {
  RingModel model;
  model.run();
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(-noise_ms, noise_ms);
  for (auto& row : model.times) {
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      auto& t = row[std::size_t(rank)];
      const double late = (10 + lateness(rank) + (noise_ms > 0 ? noise(random) : 0)) * 1e6;
      t.work_end -= 3e6;  // so that what noise moves stays in order
      for (double* time : {&t.begin, &t.delay_end, &t.work_end, &t.wait_end}) *time += late;
    }
  }
  timeline::Timeline timeline;
  model.fill(timeline, ms(900));
  return domains::find_wavefront(timeline, {ms(0), ms(900)}).value();
}

std::vector<Rank> turns_of(const domains::DomainFront& front) {
  std::vector<Rank> turns;
  for (const domains::FrontPiece& piece : front.pieces) turns.push_back(piece.last);
  return turns;
}

TEST(Wavefront, ASlopeOfOneMillisecondARankIsAThousandRanksPerSecond) {
  const domains::Wavefront front = front_with([](Rank rank) { return rank; });
  EXPECT_EQ(front.amplitude, ms(39));
  EXPECT_EQ(front.steps, 8);
  ASSERT_EQ(front.domains.size(), 4u);
  const domains::DomainFront& domain = front.domains[1];
  EXPECT_NEAR(domain.ranks_per_s, 1000, 1);
  EXPECT_EQ(domain.amplitude, ms(9));
  ASSERT_EQ(domain.pieces.size(), 1u);
  EXPECT_EQ(domain.pieces[0].first, 10);
  EXPECT_EQ(domain.pieces[0].last, 19);
  EXPECT_NEAR(domain.pieces[0].ranks_per_s->value, 1000, 1);
  EXPECT_NEAR(domain.fit.value(), 1, 1e-9);
}

/// 16 ms deep: a line through all of it says nothing.
TEST(Wavefront, OfTheFormOfAVHasTwoPieces) {
  for (const double noise : {0.0, 1.0}) {
    const domains::Wavefront front = front_with([](Rank rank) { return 4 * std::abs(rank % 10 - 4); }, noise);
    const domains::DomainFront& domain = front.domains[2];
    ASSERT_THAT(turns_of(domain), ElementsAre(24, 29)) << noise;
    EXPECT_NEAR(double(domain.amplitude.count()) * 1e-6, 20, 2 * noise + 1e-6);
    EXPECT_NEAR(domain.pieces[0].ranks_per_s->value, -250, 40 * noise + 1e-3);
    EXPECT_NEAR(domain.pieces[1].ranks_per_s->value, 250, 40 * noise + 1e-3);
    EXPECT_GT(domain.fit.value(), 0.97);
    EXPECT_DOUBLE_EQ(domain.wavelength.value(), 10);
    EXPECT_DOUBLE_EQ(front.wavelength.value(), 10);
  }
}

TEST(Wavefront, OfTheFormOfAWHasFourPieces) {
  constexpr double kLate[] = {12, 6, 0, 4, 8, 12, 6, 0, 6, 12};
  const domains::Wavefront front = front_with([&](Rank rank) { return kLate[rank % 10]; });
  const domains::DomainFront& domain = front.domains[0];
  ASSERT_THAT(turns_of(domain), ElementsAre(2, 5, 7, 9));
  EXPECT_NEAR(domain.pieces[1].ranks_per_s->value, 250, 1e-3);
  EXPECT_NEAR(domain.pieces[2].ranks_per_s->value, -1000 / 6.0, 1e-3);
  EXPECT_NEAR(domain.fit.value(), 1, 1e-9);
  EXPECT_DOUBLE_EQ(domain.wavelength.value(), 5);
}

/// physics.md: the domain of ranks 20 to 29 is left with a V of 16 ms, those beside it lean towards it.
TEST(Wavefront, OfTheReferenceCaseIsAVBetweenTwoSlopes) {
  support::Scenario scenario;
  scenario.machine = {.ranks = 40, .ranks_per_domain = 10, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
  scenario.program = {.steps = 200, .kernel = support::Kernel::kMemory, .volume = 50'000'000};
  scenario.delays = {{5, 5, ms(1200)}};
  const test::SimulatedSession session(scenario);
  const domains::Wavefront front =
      domains::find_wavefront(session.timeline(), {ms(0), session.timeline().now() * 95 / 100}).value();
  EXPECT_EQ(front.amplitude, ms(66));
  EXPECT_TRUE(front.domains[0].pieces.empty());
  EXPECT_THAT(turns_of(front.domains[1]), ElementsAre(19));
  EXPECT_NEAR(front.domains[1].pieces[0].ranks_per_s->value, -200, 0.1);
  EXPECT_NEAR(front.domains[3].pieces[0].ranks_per_s->value, 200, 0.1);
  const domains::DomainFront& valley = front.domains[2];
  EXPECT_EQ(valley.amplitude, ms(16));
  ASSERT_THAT(turns_of(valley), ElementsAre(24, 25, 29));
  EXPECT_NEAR(valley.pieces[0].ranks_per_s->value, -250, 0.1);
  EXPECT_FALSE(valley.pieces[1].ranks_per_s);
  EXPECT_NEAR(valley.pieces[2].ranks_per_s->value, 250, 0.1);
}

TEST(Wavefront, RanksThatBeginTogetherHaveNoPieces) {
  const domains::Wavefront front = front_with([](Rank) { return 0; }, 0.3);
  ASSERT_EQ(front.domains.size(), 4u);
  for (const domains::DomainFront& domain : front.domains) {
    EXPECT_EQ(domain.ranks_per_s, 0);
    EXPECT_TRUE(domain.pieces.empty());
    EXPECT_FALSE(domain.fit || domain.wavelength);
  }
}

TEST(Wavefront, HasAsManyRanksFromCrestToCrestAsTheWaveThatBentIt) {
  for (const int wavelength : {4, 5, 8, 20, 40}) {
    const domains::Wavefront front =
        front_with([&](Rank rank) { return 5 * std::sin(2 * M_PI * double(rank) / wavelength); }, 0.5);
    EXPECT_DOUBLE_EQ(front.wavelength.value(), wavelength);
  }
}

}  // namespace
}  // namespace idlewave::analysis
