// Runs whose disturbances are known: the ghost has none of them, so a run leaves it by just those.

#include "monitor/analysis/program/ghost.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RandomQuietScenarios;
using test::RingModel;
using timeline::Timeline;

using Place = std::pair<Rank, int>;
/// Of some steps of some ranks.
using Disturbances = std::map<Place, Nanoseconds>;

Nanoseconds at(const Disturbances& disturbances, Rank rank, int step) {
  const auto found = disturbances.find({rank, step});
  return found == disturbances.end() ? Nanoseconds{0} : found->second;
}

wire::Result<program::Ghost> find_ghost(const Timeline& timeline) {
  auto program = program::find_program(timeline);
  if (!program) return program.error();
  return ghost_of(program->model(), std::move(program->steps));
}

program::Ghost ghost_of(const RingModel& model) {
  Timeline timeline;
  model.fill(timeline);
  auto ghost = find_ghost(timeline);
  EXPECT_TRUE(ghost) << (ghost ? "" : ghost.error().message);
  return std::move(*ghost);
}

void expect_departures(const program::Ghost& ghost, const Disturbances& work, const Disturbances& stops) {
  constexpr double kNear = 100;  // nanoseconds
  for (Rank rank = 0; rank < ghost.ranks(); ++rank) {
    for (std::size_t k = 0; k < ghost.steps.steps(); ++k) {
      SCOPED_TRACE(fmt::format("rank {}, step {}", rank, k));
      const program::Departure& departure = ghost.departures[std::size_t(rank)][k];
      const int step = int(ghost.steps.numbers[k]);
      ASSERT_TRUE(departure.at_work);
      ASSERT_NEAR(double(departure.at_work->count()), double(at(work, rank, step).count()), kNear);
      ASSERT_NEAR(double(departure.waiting.count()), double(at(stops, rank, step).count()), kNear);
    }
  }
}

TEST(Ghost, IsLeftWhereARankWorksLongerOrShorterOrIsStopped) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  for (int i = 0; i < 30; ++i) {
    SCOPED_TRACE(fmt::format("program {} of seed {}", i, seed));
    RingModel model;
    model.ranks = random.whole(8, 50);
    model.ring = random.whole(0, 1);
    model.rendezvous = random.whole(0, 1);
    model.delays = {{random.whole(0, model.ranks - 1), 5, ms(300)}, {random.whole(0, model.ranks - 1), 60, ms(200)}};
    Disturbances work, stops;
    for (int n = random.whole(0, 10); n > 0; --n)
      work[{random.whole(0, model.ranks - 1), random.whole(1, 95)}] = ms(random.real(-5, 80));
    for (int n = random.whole(0, 3); n > 0; --n)
      stops[{random.whole(0, model.ranks - 1), random.whole(1, 95)}] = ms(random.real(1, 40));
    model.more_work = [&](Rank rank, int step) { return at(work, rank, step); };
    model.stopped_after_wait = [&](Rank rank, int step) { return at(stops, rank, step); };
    model.run();
    const program::Ghost ghost = ghost_of(model);
    expect_departures(ghost, work, stops);
    const program::DepartureSums sums = program::sum_of(ghost, 3);
    ASSERT_LE(sums.largest.size(), 3u);
    for (const program::LargestDeparture& each : sums.largest) {
      const Place place{each.rank, int(ghost.steps.numbers[each.step])};
      EXPECT_TRUE(work.contains(place) || stops.contains(place));
    }
  }
}

/// Also where ranks share bandwidth, so that work takes longer in company.
TEST(Ghost, IsLeftByTheNoiseThatWasDrawn) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(fmt::format("program {} of seed {}", i, seed));
    support::Scenario scenario = random.next(random.real(0.005, 0.05), 1);
    scenario.delays = {{random.whole(0, scenario.machine.ranks - 1), scenario.program.steps / 3, ms(200)}};
    const test::SimulatedSession session(scenario, test::Says::kPartners);
    const auto ghost = find_ghost(session.timeline());
    ASSERT_TRUE(ghost) << ghost.error().message;
    const auto prepared = sim::prepare(scenario, {});
    const double step = double(ghost->step.count());
    // A core-bound program's work is known as what a twentieth of all steps stay below.
    const double near = scenario.program.kernel == support::Kernel::kMemory ? 1e-3 * step : 0.01 * step;
    for (Rank rank = 0; rank < ghost->ranks(); ++rank) {
      for (std::size_t k = 0; k < ghost->steps.steps(); ++k) {
        SCOPED_TRACE(fmt::format("rank {}, step {}", rank, k));
        const program::Departure& departure = ghost->departures[std::size_t(rank)][k];
        const double drawn = 1e9 * prepared->noise->after(rank, ghost->steps.numbers[k], 0, 0);
        ASSERT_TRUE(departure.at_work);
        ASSERT_NEAR(double(departure.at_work->count()), drawn, near);
        ASSERT_NEAR(double(departure.waiting.count()), 0, 1e-3 * step);
      }
    }
  }
}

/// Of a stretch of a session nothing else is said than of the whole, where anything is.
TEST(Ghost, OfAWindowIsThatOfTheSession) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  std::size_t known = 0, all = 0;
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE(fmt::format("program {} of seed {}", i, seed));
    support::Scenario scenario = random.next(random.real(0.005, 0.05), 2);
    scenario.delays = {{random.whole(0, scenario.machine.ranks - 1), scenario.program.steps / 8, ms(200)}};
    const test::SimulatedSession session(scenario, test::Says::kPartners);
    const auto whole = find_ghost(session.timeline());
    ASSERT_TRUE(whole) << whole.error().message;
    program::GhostFinder finder(session.timeline());
    const Nanoseconds length = session.timeline().now();
    const auto& part = finder.observe({length / 3, length * 2 / 3});
    ASSERT_TRUE(part) << part.error().message;
    const double near = 0.02 * double(whole->step.count());
    for (std::size_t k = 0; k < part->steps.steps(); ++k) {
      const auto in_whole =
          std::size_t(std::ranges::find(whole->steps.numbers, part->steps.numbers[k]) - whole->steps.numbers.begin());
      for (std::size_t rank = 0; rank < whole->departures.size(); ++rank) {
        const program::Departure &a = part->departures[rank][k], &b = whole->departures[rank][in_whole];
        ASSERT_NEAR(double(a.waiting.count()), double(b.waiting.count()), near);
        all += 1;
        if (!a.at_work) continue;
        known += 1;
        ASSERT_NEAR(double(a.at_work->count()), double(b.at_work->count()), near) << rank << " " << k;
      }
    }
  }
  EXPECT_GT(known, all / 2);
}

/// As a screen has it, that must not stop meanwhile.
const wire::Result<program::Ghost>& in_pieces(program::GhostFinder& finder, Window window) {
  constexpr std::uint64_t kLooks = 1'000;
  do finder.observe(window, LookBudget(kLooks));
  while (finder.is_learning());
  return finder.found();
}

TEST(Ghost, OfAMomentIsTheSameHoweverMuchCameLater) {
  const unsigned seed = any_seed();
  RandomQuietScenarios random(seed);
  const support::Scenario scenario = random.next(0.02, 12);
  const test::SimulatedFrames frames(scenario);
  const Window window{std::chrono::seconds(6), std::chrono::seconds(8)};
  Timeline then, later;
  ingest::Ingest hears_then(then), hears_later(later);
  for (const auto& frame : frames.all()) {
    if (then.empty() || then.now() < window.to)
      hears_then.accept(wire::decode_in_place(frame.bytes), frame.at, wire::Direction::kReceived);
    hears_later.accept(wire::decode_in_place(frame.bytes), frame.at, wire::Direction::kReceived);
  }
  program::GhostFinder a(then), b(later);
  const auto &live = a.observe(window), &replayed = in_pieces(b, window);
  ASSERT_TRUE(live) << live.error().message;
  ASSERT_TRUE(replayed) << replayed.error().message;
  ASSERT_EQ(live->steps.numbers, replayed->steps.numbers);
  EXPECT_EQ(live->model.exchange.distances, replayed->model.exchange.distances);
  for (std::size_t rank = 0; rank < live->departures.size(); ++rank)
    for (std::size_t k = 0; k < live->steps.steps(); ++k)
      ASSERT_EQ(live->departures[rank][k].waiting, replayed->departures[rank][k].waiting) << "seed " << seed;
}

/// Whose ranks do not say whom they wait for.
TEST(Ghost, IsKnownOnceItIsLearntAndHoldsUntilMoreIs) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  RandomQuietScenarios random(seed);
  const test::SimulatedSession session(random.next(0.02, 12), test::Says::kNothing);
  program::GhostFinder finder(session.timeline());
  const LookBudget little(1);
  EXPECT_FALSE(finder.observe({ms(5'500), ms(7'000)}, little));
  EXPECT_TRUE(finder.is_learning());
  const std::vector<Rank> distances = in_pieces(finder, {ms(5'500), ms(7'000)})->model.exchange.distances;
  // A round later, and back in what that round does not know of.
  const auto& later = finder.observe({ms(10'000), ms(10'500)}, little);
  EXPECT_TRUE(finder.is_learning());
  ASSERT_TRUE(later) << later.error().message;
  EXPECT_EQ(later->model.exchange.distances, distances);
  ASSERT_TRUE(in_pieces(finder, {ms(10'000), ms(10'500)}));
  EXPECT_FALSE(finder.observe({ms(5'500), ms(7'000)}, little)) << "learnt of what came later";
  EXPECT_TRUE(in_pieces(finder, {ms(5'500), ms(7'000)}));
}

TEST(Ghost, SaysWhyThereIsNone) {
  Timeline timeline;
  program::GhostFinder finder(timeline);
  EXPECT_FALSE(finder.observe({Nanoseconds{0}, std::chrono::seconds(1)}));
}

}  // namespace
}  // namespace idlewave::analysis
