#include "monitor/analysis/waves/waves.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <utility>

#include "monitor/analysis/partners/partner_inference.h"
#include "monitor/analysis/waves/wave_trace.h"
#include "tests/analysis/ring_model.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using testing::DoubleNear;
using testing::SizeIs;

constexpr Window kAll{Nanoseconds{0}, Nanoseconds::max()};

RingModel one_delay(Nanoseconds length = ms(300)) {
  RingModel model;
  model.delays = {{5, 20, length}};
  return model;
}

std::vector<waves::Wave> waves_of(RingModel model, Nanoseconds until = Nanoseconds::max()) {
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline, until);
  return waves::find_waves(timeline, kAll);
}

TEST(Waves, NamesTheDelayedRankAndItsStepAsTheOrigin) {
  const auto waves = waves_of(one_delay());
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].origin_rank, 5);
  EXPECT_EQ(waves[0].origin_step, 20);
  EXPECT_EQ(waves[0].command, 7u);
  EXPECT_EQ(waves[0].delay, ms(300));
  EXPECT_EQ(waves[0].start, ms(200));
}

/// Ranks 30 to 39 are done after ten steps, and the rest goes on without them.
TEST(Waves, LeaveWhereTheRanksAheadHadEndedBefore) {
  RingModel all, rest;
  all.ring = rest.ring = false;
  all.steps = 10;
  rest.ranks = 30;
  rest.delays = {{25, 20, ms(300)}};
  all.run(), rest.run();
  timeline::Timeline timeline;
  timeline.apply_roster("n1", all.roster());
  for (Rank rank = 0; rank < all.ranks; ++rank)
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank},
                    rank < rest.ranks ? rest.events_of(rank) : all.events_of(rank));
  timeline.advance("n1", timeline.lane(0)->last());
  const auto waves = waves::find_waves(timeline, kAll);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.reach_ranks, 4);
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kBoundary) << to_words(waves[0].up.end);
  EXPECT_EQ(waves[0].down.end, waves::WaveEnd::kBoundary);
}

TEST(Waves, AskEachPartnerAFewTimesAStepWhereRanksWaitForAllOthers) {
  RingModel model = one_delay();
  model.ranks = 81;
  model.distances.clear();
  partners::Partners partners;
  for (int distance = -40; distance <= 40; ++distance)
    if (distance != 0) model.distances.push_back(distance), partners.offsets.push_back(distance);
  model.noise_mean_ms = 1;
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const domains::Contention contention(timeline);
  const waves::Origin origin{.rank = 5,
                             .step = 20,
                             .begin = Nanoseconds(std::int64_t(model.times[20][5].begin)),
                             .excess = ms(300),
                             .in_work = false};
  const waves::WaveTrace trace(timeline, partners, contention, origin, ms(15));
  EXPECT_LT(trace.work(), 5u * 25 * 81 * 80);
}

TEST(Waves, TraceTheLongestDelaysWhereAllAreTooMuch) {
  RingModel model;
  model.delays = {{5, 20, ms(30)}, {25, 40, ms(300)}, {12, 60, ms(50)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  waves::WaveWatch watch(LookBudget::kUnlimited, 1);
  const auto waves = watch.look(timeline);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].origin_rank, 25);
  EXPECT_EQ(watch.not_traced(), 2);
}

TEST(Waves, RunsHalfRoundAClosedRingAndAnnihilates) {
  const auto waves = waves_of(one_delay());
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kAnnihilated);
  EXPECT_EQ(waves[0].down.end, waves::WaveEnd::kAnnihilated);
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
  EXPECT_NEAR(waves[0].up.reach_ranks, 20, 1);
}

TEST(Waves, FollowsAWaveOfAProgramThatAnotherCameAfter) {
  RingModel first = one_delay(), second;
  first.run();
  second.run();
  timeline::Timeline timeline;
  first.fill(timeline);
  const auto alone = waves::find_waves(timeline, kAll);
  second.run_again(timeline, ms(60'000));
  const auto waves = waves::find_waves(timeline, kAll);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.reach_ranks, alone[0].up.reach_ranks);
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kAnnihilated);
  EXPECT_DOUBLE_EQ(waves[0].up.leading.ranks_per_step->value, alone[0].up.leading.ranks_per_step->value);
}

TEST(Waves, FollowsTheLatestOfAProgramThatDelaysItselfAllTheTime) {
  timeline::Timeline timeline;
  timeline.apply_roster("n1", RingModel{.ranks = 4}.roster());
  constexpr int kSteps = 20'000;
  std::vector<wire::Event> events{{ms(0), 0, wire::EventKind::kStart, wire::Phase::kNone}};
  for (int step = 0; step < kSteps; ++step) {
    events.push_back({ms(step * 10), std::uint64_t(step), wire::EventKind::kStep, wire::Phase::kNone});
    events.push_back({ms(step * 10), 0, wire::EventKind::kDelayBegin, wire::Phase::kDelay});
    events.push_back({ms(step * 10 + 9), 0, wire::EventKind::kDelayEnd, wire::Phase::kNone});
  }
  timeline.append("n1", {wire::LaneId::Kind::kRank, 0}, events);
  timeline.advance("n1", ms(kSteps * 10));
  waves::WaveWatch watch(LookBudget::kUnlimited);
  const auto waves = watch.look(timeline);
  EXPECT_LE(waves.size(), 512u);
  EXPECT_EQ(waves.back().origin_step, kSteps - 1);
  EXPECT_EQ(watch.from(), ms((kSteps - 512) * 10));
  EXPECT_TRUE(std::ranges::is_sorted(waves, {}, &waves::Wave::start));
}

TEST(Waves, DiesAtTheEndsOfAnOpenChain) {
  RingModel model = one_delay();
  model.ring = false;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kBoundary);
  EXPECT_EQ(waves[0].up.reach_ranks, 34);
  EXPECT_EQ(waves[0].down.end, waves::WaveEnd::kBoundary);
  EXPECT_EQ(waves[0].down.reach_ranks, 5);
}

TEST(Waves, DoesNotDecayInACoreBoundProgramWithoutNoise) {
  const auto waves = waves_of(one_delay());
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_NEAR(waves[0].up.decay_s_per_rank->value, 0, 1e-9);
  for (const waves::FrontPoint& point : waves[0].up.front) EXPECT_EQ(point.idle, ms(300)) << "rank " << point.rank;
}

TEST(Waves, StillRunsWhenTheDataEndsBeforeTheFrontsMeet) {
  const auto waves = waves_of(one_delay(ms(100)), ms(200 + 55));
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kRunning);
  EXPECT_EQ(waves[0].down.end, waves::WaveEnd::kRunning);
}

TEST(Waves, TwoDelaysMakeTwoWavesThatAnnihilateBetweenThem) {
  RingModel model = one_delay();
  model.delays.push_back({25, 20, ms(300)});
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(2));
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kAnnihilated);
  EXPECT_EQ(waves[1].down.end, waves::WaveEnd::kAnnihilated);
  EXPECT_NEAR(waves[0].up.reach_ranks, 10, 1);
}

TEST(Waves, AreNotSaidToHaveReachedNobodyWhereTheStepsThatWouldTellAreForgotten) {
  RingModel model = one_delay();
  model.steps = 4000;
  model.run();
  timeline::Timeline timeline(4u << 20);
  model.fill(timeline);
  ASSERT_FALSE(timeline.lane(5)->step(20));
  const auto waves = waves::find_waves(timeline, kAll);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.end, waves::WaveEnd::kUnknown);
  EXPECT_EQ(waves[0].down.end, waves::WaveEnd::kUnknown);
}

TEST(Waves, ADelayOfHalfAStepRunsTheWholeRingWhereNothingHidesIt) {
  const auto waves = waves_of(one_delay(ms(5)));
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
}

TEST(Waves, ADelayOfLessThanATenthOfAStepMakesNone) { EXPECT_THAT(waves_of(one_delay(ms(0.9))), SizeIs(0)); }

/// physics.md: exponential noise takes mu from the idle period per rank, so a delay D reaches about D / mu ranks.
TEST(Waves, NoiseOfMeanMuTakesMuPerRank) {
  RingModel model = one_delay(ms(60));
  model.ranks = 400;
  model.steps = 200;
  model.delays[0].rank = 5;
  model.distances = {1};
  model.noise_mean_ms = 0.5;
  model.seed = 12345;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_THAT(waves[0].up.decay_s_per_rank->value, DoubleNear(0.5e-3, 0.15e-3)) << "seed " << model.seed;
}

TEST(Waves, AreFlattenedByACollectiveInEachStep) {
  RingModel model = one_delay();
  model.distances = {};
  model.collective_every = 1;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 39);
  for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    EXPECT_EQ(direction->end, waves::WaveEnd::kFlattened);
    EXPECT_FALSE(direction->leading.ranks_per_s || direction->theory);
  }
}

TEST(Waves, RunUntilACollectiveFlattensThem) {
  RingModel model = one_delay();
  model.delays[0].step = 22;
  model.collective_every = 10;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    EXPECT_EQ(direction->end, waves::WaveEnd::kFlattened);
    EXPECT_EQ(direction->front.size(), 7u) << "steps 22 to 28";
    EXPECT_NEAR(direction->leading.ranks_per_step->value, 1, 1e-9);
    EXPECT_NEAR(direction->reach_ranks, 19.5, 0.5);
  }
}

/// Those whom it does not reach any more wait for messages, as in every step.
TEST(Waves, AreNotFlattenedWhereTheyDecayNearTheEndOfAChain) {
  support::Scenario scenario;
  scenario.machine = {.ranks = 40, .ranks_per_domain = 10};
  scenario.machine.core_bandwidth = 10e9;
  scenario.machine.domain_bandwidth = 120e9;
  scenario.program = {.steps = 80, .kernel = support::Kernel::kCore};
  scenario.program.time = ms(10);
  scenario.communication = {.topology = support::Topology::kChain,
                            .distances = {-2, -1, 1, 2},
                            .protocol = support::Protocol::kEager,
                            .wait = support::WaitFlavour::kSplit,
                            .time = ms(2)};
  scenario.noise.distribution = support::ExponentialNoise{ms(0.5)};
  scenario.delays = {{0, 31, ms(36.673)}};
  for (const unsigned seed : {2241u, 9u, 11u}) {
    scenario.noise.seed = seed;
    const test::SimulatedSession session(scenario, test::Says::kPartners);
    const auto waves = waves::find_waves(session.timeline(), kAll);
    ASSERT_THAT(waves, SizeIs(1)) << seed;
    EXPECT_NE(waves[0].up.end, waves::WaveEnd::kFlattened) << seed;
  }
}

/// Ranks of a ring that exchange in every other step, and say so; rank 3 is held in step 20.
timeline::Timeline every_other_step(Rank ranks, int steps) {
  std::vector<std::vector<wire::Event>> events(static_cast<std::size_t>(ranks));
  std::vector<Nanoseconds> begins(events.size());
  for (int step = 0; step < steps; ++step) {
    std::vector<Nanoseconds> posts;
    for (Rank rank = 0; rank < ranks; ++rank)
      posts.push_back(begins[std::size_t(rank)] + (rank == 3 && step == 20 ? ms(310) : ms(10)));
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Nanoseconds begin = std::exchange(begins[std::size_t(rank)], posts[std::size_t(rank)]);
      for (const Rank other : {(rank + 1) % ranks, (rank + ranks - 1) % ranks})
        if (step % 2 == 0) begins[std::size_t(rank)] = std::max(begins[std::size_t(rank)], posts[std::size_t(other)]);
      auto& its = events[std::size_t(rank)];
      if (step == 0) its.push_back({begin, 0, wire::EventKind::kStart, wire::Phase::kNone});
      its.push_back({begin, std::uint64_t(step), wire::EventKind::kStep, wire::Phase::kNone});
      its.push_back({begin, 0, step == 0 ? wire::EventKind::kEnter : wire::EventKind::kSwitch, wire::Phase::kCompute});
      its.push_back({posts[std::size_t(rank)], 0, wire::EventKind::kSwitch, wire::Phase::kWait});
    }
  }
  wire::Roster roster;
  roster.world_size = ranks;
  roster.patterns = {{false, false, {-1, 1}, {}}};
  roster.cycles = {{{{0}, {}}}};
  for (Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1, wire::kNoDomain, 1});
  timeline::Timeline timeline;
  timeline.apply_roster("n1", roster);
  for (Rank rank = 0; rank < ranks; ++rank)
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events[std::size_t(rank)]);
  timeline.advance("n1", *std::ranges::min_element(begins));
  return timeline;
}

TEST(Waves, HaveNotLeftAChainWhereNobodyWaitsInTheNextStepAlone) {
  const auto waves = waves::find_waves(every_other_step(12, 60), kAll);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.reach_ranks + waves[0].down.reach_ranks, 11);
  for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down})
    EXPECT_EQ(direction->end, waves::WaveEnd::kAnnihilated);
}

/// All whom it reaches wait at once, and those that are farther away began to earlier.
TEST(Waves, HaveNoSpeedBelowNothing) {
  RingModel model;
  model.ranks = 8;
  model.ring = false;
  model.distances = {1, 2, 3};
  model.delays = {{4, 20, ms(300)}};
  model.more_work = [](Rank rank, int) { return ms(0.1 * (7 - rank)); };
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  ASSERT_EQ(waves[0].up.front.size(), 3u);
  EXPECT_GT(waves[0].up.front[0].arrival, waves[0].up.front[2].arrival);
  EXPECT_FALSE(waves[0].up.leading.ranks_per_s);
}

/// In two waits, one after the other, whose distances lead beyond the chain together.
TEST(Waves, AreToldByPartnersThatAreThere) {
  RingModel model;
  model.ranks = 12;
  model.ring = false;
  model.split = true;
  model.distances = {3, 4, 5};
  model.noise_mean_ms = 1;
  model.delays = {{2, 20, ms(300)}};
  model.run();
  timeline::Timeline timeline;
  model.fill(timeline);
  const steps::LateMoment held{2, 20, Nanoseconds(std::llround(model.times[20][2].begin))};
  partners::PartnerInference inference(timeline, std::span(&held, 1), ms(14));
  LookBudget unlimited;
  inference.advance(unlimited);
  const partners::Partners partners = inference.partners();
  EXPECT_THAT(partners.offsets, testing::Contains(-9));
  EXPECT_THAT(partners.offsets, testing::Each(testing::AllOf(testing::Gt(-12), testing::Lt(12))));
}

/// Of so few steps anything may be told.
TEST(Waves, OfAHandfulOfStepsTellNobodysPartners) {
  RingModel model = one_delay();
  model.delays[0].step = 2;
  model.steps = 5;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  EXPECT_EQ(waves[0].up.reach_ranks, 0);
}

TEST(Waves, AreComparedWithTheSpeedOfTheory) {
  RingModel model = one_delay(ms(60));
  model.distances = {-2, -1, 1, 2};
  model.noise_mean_ms = 0.2;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
    ASSERT_TRUE(direction->theory && direction->theory->deviation);
    EXPECT_EQ(direction->theory->ranks_per_step, 2);
    EXPECT_NEAR(direction->theory->ranks_per_s, 2 / 0.0106, 5) << "10 ms, and the noise of the last of five";
    const Estimate& measured = *direction->leading.ranks_per_s;
    ASSERT_TRUE(direction->theory->error);
    EXPECT_DOUBLE_EQ(*direction->theory->deviation, (measured.value - direction->theory->ranks_per_s) /
                                                        std::hypot(*measured.error, *direction->theory->error));
  }
}

/// Tells the run as ranks do that share a core: each wakes up to 3 ms late from its work, and 2 ms after the message that it
/// waited for, or twice as long after its own where that was the last. Of that nothing is passed on.
void wake_up_late(RingModel& model, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> late(0, 3e6);
  for (std::size_t step = 0; step < model.times.size(); ++step) {
    auto& row = model.times[step];
    for (RingModel::Times& of : row) of.work_end += late(random);
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      RingModel::Times& of = row[std::size_t(rank)];
      double others = 0;
      for (const int distance : model.distances)
        others = std::max(others, row[std::size_t(model.partner(rank, -distance))].work_end);
      of.wait_end = others + 2e6;
      if (of.work_end > others) of.wait_end = of.work_end + 4e6;
      if (step + 1 < model.times.size()) {
        auto& next = model.times[step + 1][std::size_t(rank)];
        next.delay_end += of.wait_end - next.begin;
        next.begin = of.wait_end;
      }
    }
  }
}

/// 40 ms a step: what ranks are late by is in their steps already, and not once more in theory's.
TEST(Waves, AreComparedWithTheStepsThatThereWereWhereRanksWakeUpLate) {
  const unsigned seed = any_seed();
  constexpr unsigned kDraws = 20;
  double sum = 0, most = 0;
  for (unsigned draw = 0; draw < kDraws; ++draw) {
    RingModel model = one_delay(ms(400));
    model.work = ms(40);
    model.steps = 60;
    model.run();
    wake_up_late(model, seed + draw);
    timeline::Timeline timeline;
    model.fill(timeline);
    const auto waves = waves::find_waves(timeline, kAll);
    ASSERT_THAT(waves, SizeIs(1));
    for (const waves::WaveDirection* direction : {&waves[0].up, &waves[0].down}) {
      ASSERT_TRUE(direction->theory && direction->theory->error && direction->theory->deviation);
      EXPECT_NEAR(direction->theory->ranks_per_s, 25, 4 * *direction->theory->error);
      sum += direction->theory->ranks_per_s;
      most = std::max(most, std::abs(*direction->theory->deviation));
    }
  }
  EXPECT_NEAR(sum / (2 * kDraws), 25, 0.01 * 25);
  EXPECT_LT(most, 4);
}

struct SpeedCase {
  const char* name;
  std::vector<int> distances;
  bool rendezvous, split;
  double down, up;
};
void PrintTo(const SpeedCase& c, std::ostream* out) { *out << c.name; }

class WaveSpeed : public testing::TestWithParam<SpeedCase> {};

/// physics.md, "Speed in ranks per step". A chain, so that a fast front does not come round and meet its slow sibling.
TEST_P(WaveSpeed, IsThatOfTheDependencyModel) {
  RingModel model = one_delay();
  model.ring = false;
  model.ranks = 120;
  model.delays[0].rank = 60;
  model.distances = GetParam().distances;
  model.rendezvous = GetParam().rendezvous;
  model.split = GetParam().split;
  const auto waves = waves_of(model);
  ASSERT_THAT(waves, SizeIs(1));
  for (const auto& [direction, expected] : {std::pair(waves[0].down, GetParam().down), {waves[0].up, GetParam().up}}) {
    EXPECT_EQ(direction.leading.ranks_per_step.has_value(), expected > 0);
    if (expected == 0) {
      EXPECT_EQ(direction.end, waves::WaveEnd::kNone);
      continue;
    }
    EXPECT_NEAR(direction.leading.ranks_per_step->value, expected, 0.05);
    EXPECT_NEAR(direction.leading.ranks_per_s->value, expected / 0.010, 0.15 * expected / 0.010);
  }
}

INSTANTIATE_TEST_SUITE_P(PatternsOfTheLiterature, WaveSpeed,
                         testing::Values(SpeedCase{"one direction, eager", {1}, false, false, 0, 1},
                                         SpeedCase{"one direction, rendezvous", {1}, true, false, 1, 1},
                                         SpeedCase{"both, one wait, eager", {-1, 1}, false, false, 1, 1},
                                         SpeedCase{"both, one wait, rendezvous", {-1, 1}, true, false, 1, 1},
                                         SpeedCase{"both, split, eager", {-1, 1}, false, true, 1, 1},
                                         SpeedCase{"both, split, rendezvous", {-1, 1}, true, true, 2, 2},
                                         SpeedCase{"two each, eager", {-2, -1, 1, 2}, false, false, 2, 2},
                                         SpeedCase{"two each, rendezvous", {-2, -1, 1, 2}, true, false, 2, 2},
                                         SpeedCase{"lopsided, split, eager", {1, -1, -2}, false, true, 3, 1},
                                         SpeedCase{"lopsided, split, rendezvous", {1, -1, -2}, true, true, 4, 4}));

}  // namespace
}  // namespace idlewave::analysis
