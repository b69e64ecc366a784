// Ranks that say whom they wait for, in programs without any collective.

#include <gtest/gtest.h>

#include <random>

#include "monitor/analysis/causes/causes.h"
#include "tests/analysis/ring_model.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;

/// The delays, some of them more than steps of all others are long, and messages that differ by 1 % of a step.
RingModel ring_of_few(std::mt19937& random) {
  RingModel model;
  model.ranks = 3 + Rank(random() % 4);
  model.ranks_per_domain = model.ranks;
  model.steps = 60;
  model.noise_mean_ms = 0.05;
  model.seed = unsigned(random());
  model.delays = {{Rank(random() % std::size_t(model.ranks)), 20, ms(300)}, {0, 40, ms(3)}};
  model.announced = false;
  std::vector<Nanoseconds> stops;
  for (Rank i = 0; i < model.ranks * model.steps; ++i) stops.emplace_back(random() % 100'000);
  model.stopped_after_wait = [stops, ranks = model.ranks](Rank rank, int step) {
    return stops[std::size_t(step * ranks + rank)];
  };
  model.run();
  return model;
}

causes::Causes causes_of_ring(const RingModel& model) {
  wire::Roster roster = model.roster();
  roster.patterns = {{.rendezvous = false, .collective = false, .from = {-1, 1}, .to = {-1, 1}}};
  roster.cycles = {{{{0}}}};
  for (wire::RankInfo& rank : roster.ranks) rank.cycle = 1;
  timeline::Timeline timeline;
  model.fill(timeline);
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  return causes::find_causes(timeline, Window{Nanoseconds{0}, Nanoseconds::max()}, causes::cause_ground(timeline));
}

TEST(NoCollective, IsMadeOutOfWaitsForNeighbours) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int i = 0; i < 40; ++i) {
    const causes::Causes causes = causes_of_ring(ring_of_few(random));
    for (std::size_t rank = 0; rank < causes.ranks.size(); ++rank)
      EXPECT_EQ(causes.ranks[rank].ended.collectives, Nanoseconds{0})
          << "rank " << rank << ", program " << i << ", seed " << seed;
  }
}

}  // namespace
}  // namespace idlewave::analysis
