// Programs whose partners, work and delays are known, told to a timeline: what is found in it alone must be the same.

#include "monitor/analysis/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "monitor/analysis/partners/exchange_search.h"
#include "tests/analysis/ring_model.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using wire::Step;

using test::ms;
using test::RingModel;
using testing::ElementsAre;
using testing::HasSubstr;
using timeline::Timeline;
using wire::Event;
using wire::EventKind;
using wire::Phase;

/// With one delay of half a second, so that somebody is late.
RingModel disturbed() {
  RingModel model;
  model.delays = {{5, 5, ms(500)}};
  return model;
}

wire::Result<program::Program> program_of(RingModel& model) {
  model.run();
  Timeline timeline;
  model.fill(timeline);
  return program::find_program(timeline);
}

program::Program found(RingModel model) {
  auto program = program_of(model);
  EXPECT_TRUE(program) << (program ? "" : program.error().message);
  return std::move(*program);
}

TEST(Program, HasThePartnersOfEveryPattern) {
  for (const std::vector<int>& distances : {std::vector<int>{-1, 1}, {1}, {3}, {-2, -1, 1, 2}}) {
    RingModel model = disturbed();
    model.distances = distances;
    const partners::Exchange pattern = found(model).exchange;
    EXPECT_EQ(pattern.distances, distances);
    EXPECT_TRUE(pattern.ring && pattern.certain);
  }
}

TEST(Program, HasItsReceiversAsPartnersTooWhereBothSidesWait) {
  RingModel model = disturbed();
  model.distances = {1};
  model.rendezvous = true;
  EXPECT_THAT(found(model).exchange.distances, ElementsAre(-1, 1));
}

TEST(Program, IsARingOrAChain) {
  RingModel model = disturbed();
  model.ring = false;
  EXPECT_FALSE(found(model).exchange.ring);
  model.distances = {1};
  EXPECT_FALSE(found(model).exchange.ring);
}

/// Where three steps up are one step down.
TEST(Program, HasEachPartnerOnceWhereTheRingIsSmall) {
  for (const Rank ranks : {4, 5, 6}) {
    RingModel model = disturbed();
    model.ranks = ranks;
    model.delays[0].rank = 1;
    EXPECT_THAT(found(model).exchange.distances, ElementsAre(-1, 1)) << ranks;
  }
}

TEST(Program, KeepsItsPartnersUnderNoise) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  RingModel model = disturbed();
  model.noise_mean_ms = 1;
  model.seed = seed;
  EXPECT_THAT(found(model).exchange.distances, ElementsAre(-1, 1));
}

TEST(Program, IsGuessedAtWhereNobodyWasLateAndSaysSo) {
  const partners::Exchange pattern = found(RingModel{}).exchange;
  EXPECT_FALSE(pattern.certain);
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
}

TEST(Program, HasTheWorkAndTheHoldsThatItWasGiven) {
  const program::Program program = found(disturbed());
  EXPECT_EQ(program.ranks(), 40);
  EXPECT_EQ(program.ranks_per_domain, 10);
  EXPECT_EQ(program.steps.steps(), 100u);
  EXPECT_EQ(program.work.time, ms(10));
  EXPECT_FALSE(program.work.memory) << "nobody said how much it moves";
  ASSERT_EQ(program.holds.size(), 1u);
  EXPECT_EQ(program.holds[0].rank, 5);
  EXPECT_EQ(program.holds[0].step, 5u);
  EXPECT_EQ(program.holds[0].duration, ms(500));
}

TEST(Program, MovesWhatItsRanksDeclare) {
  RingModel model = disturbed();
  model.run();
  Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    std::vector<Event> events;
    for (const Event& event : model.events_of(rank)) {
      events.push_back(event);
      if (event.phase == Phase::kCompute) events.push_back({event.time, 50'000'000, EventKind::kTraffic, event.phase});
    }
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  const auto program = program::find_program(timeline);
  ASSERT_TRUE(program) << program.error().message;
  ASSERT_TRUE(program->work.memory);
  EXPECT_EQ(program->work.memory->volume, 50e6);
  EXPECT_EQ(program->work.memory->core_bandwidth, 10e9);
  EXPECT_EQ(program->work.memory->saturated_bandwidth, 50e9);
}

/// The same events of each rank, changed.
Timeline changed(const RingModel& model, const std::function<void(Rank, std::vector<Event>&)>& change) {
  Timeline timeline;
  timeline.apply_roster("n1", model.roster());
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    std::vector<Event> events = model.events_of(rank);
    change(rank, events);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  return timeline;
}

/// With other numbers of steps.
Timeline renumbered(const RingModel& model, const std::function<Step(Step)>& number) {
  return changed(model, [&](Rank, std::vector<Event>& events) {
    for (Event& event : events) {
      if (event.kind == EventKind::kStep) event.value = std::uint64_t(number(Step(event.value)));
    }
  });
}

TEST(CommonSteps, MayBeNumberedByTens) {
  RingModel model = disturbed();
  model.run();
  const auto ones = steps::common_steps(renumbered(model, [](Step step) { return step; }));
  const auto tens = steps::common_steps(renumbered(model, [](Step step) { return 10 * step; }));
  ASSERT_TRUE(ones && tens);
  EXPECT_EQ(tens->steps(), ones->steps());
  EXPECT_EQ(tens->numbers[3], 30);
  EXPECT_EQ(partners::find_exchange(steps::StepSample::of(*tens)).distances,
            partners::find_exchange(steps::StepSample::of(*ones)).distances);
}

TEST(CommonSteps, OfTwoProgramsThatCountAlikeAreNotMixed) {
  RingModel model = disturbed();
  model.run();
  const auto steps = steps::common_steps(renumbered(model, [](Step step) { return step % 60; }));
  ASSERT_TRUE(steps) << steps.error().message;
  for (const auto& rank : steps->ranks) {
    for (std::size_t k = 1; k < rank.size(); ++k) ASSERT_GE(rank[k].begin, rank[k - 1].end);
  }
}

/// Each step as the model has it, whatever is taken of them.
void expect_times_of(const RingModel& model, const steps::CommonSteps& steps) {
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    for (std::size_t k = 0; k < steps.steps(); ++k) {
      const auto& expected = model.times[std::size_t(steps.numbers[k])][std::size_t(rank)];
      const steps::RankStep& step = steps.ranks[std::size_t(rank)][k];
      ASSERT_NEAR(double(step.begin.count()), expected.begin, 1);
      ASSERT_NEAR(double(step.post.count()), expected.work_end, 1);
      ASSERT_NEAR(double(step.end.count()), expected.wait_end, 1);
      ASSERT_NEAR(double(step.held.count()), expected.delay_end - expected.begin, 2);
    }
  }
}

TEST(CommonSteps, AreWhatTheModelDid) {
  RingModel model = disturbed();
  model.noise_mean_ms = 1;
  model.seed = any_seed();
  SCOPED_TRACE(model.seed);
  model.run();
  Timeline timeline;
  model.fill(timeline);
  const auto steps = steps::common_steps(timeline);
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->steps(), 100u);
  expect_times_of(model, *steps);
}

TEST(CommonSteps, AreTheSameWhereTheProgramHoldsItselfAndSaysSoByThePhaseAlone) {
  RingModel model = disturbed();
  model.run();
  const Timeline timeline = changed(model, [](Rank, std::vector<Event>& events) {
    for (Event& event : events)
      if (event.kind == EventKind::kDelayBegin || event.kind == EventKind::kDelayEnd)
        event = {event.time, 0, EventKind::kSwitch,
                 event.kind == EventKind::kDelayBegin ? Phase::kDelay : Phase::kCompute};
  });
  const auto steps = steps::common_steps(timeline);
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->steps(), 100u);
  expect_times_of(model, *steps);
}

TEST(CommonSteps, LeaveOutThoseOfWhichEventsWereLost) {
  RingModel model = disturbed();
  model.run();
  const auto& step = model.times[30][7];
  const Nanoseconds middle(std::llround((step.delay_end + step.work_end) / 2));
  const Timeline timeline = changed(model, [&](Rank rank, std::vector<Event>& events) {
    if (rank == 7)
      events.insert(std::ranges::upper_bound(events, middle, {}, &Event::time),
                    {middle, 3, EventKind::kDropped, Phase::kCompute});
  });
  const auto steps = steps::common_steps(timeline);
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(steps->known, 100u);
  EXPECT_EQ(steps->numbers.front(), 31);
  EXPECT_EQ(steps->numbers.back(), 99);
  expect_times_of(model, *steps);
}

TEST(CommonSteps, AreTheLatestWhereTheBudgetHoldsNoMore) {
  RingModel model = disturbed();
  model.steps = 2000;
  model.run();
  Timeline timeline(2 << 20);
  model.tell_in_slices(timeline, ms(100), [] {});
  const auto steps = steps::common_steps(timeline);
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_LT(steps->steps(), 2000u);
  EXPECT_EQ(steps->numbers.back(), 1999);
  expect_times_of(model, *steps);
}

TEST(CommonSteps, AreNoneWhereARankIsMissingOrNoTwoAreWhole) {
  RingModel model = disturbed();
  model.run();
  Timeline timeline;
  model.fill(timeline, ms(15));
  EXPECT_THAT(steps::common_steps(timeline).error().message, HasSubstr("no two in a row"));
  model.is_untold = [](int) { return true; };
  Timeline untold;
  model.fill(untold);
  EXPECT_THAT(steps::common_steps(untold).error().message, HasSubstr("none of its ranks has told a step"));
  wire::Roster larger = model.roster();
  larger.world_size = 41;
  timeline.apply_roster("n1", larger);
  EXPECT_THAT(steps::common_steps(timeline).error().message, HasSubstr("40 of 41 ranks"));
}

TEST(Program, OfSeveralNodesIsRefused) {
  Timeline timeline;
  wire::Roster roster;
  roster.world_size = 2;
  roster.ranks = {{0, 1000, wire::kNoDomain}};
  timeline.apply_roster("n1", roster);
  roster.ranks = {{1, 1000, wire::kNoDomain}};
  timeline.apply_roster("n2", roster);
  EXPECT_THAT(program::find_program(timeline).error().message, HasSubstr("several nodes"));
}

TEST(MeanAtWork, IsTheShareOfTimeBetweenHoldAndPost) {
  steps::CommonSteps steps;
  steps.numbers = {0, 1};
  const auto rank = [](double held) {
    return std::vector<steps::RankStep>{{ms(0), ms(held), ms(10), ms(20), 0}, {ms(20), ms(0), ms(30), ms(40), 0}};
  };
  steps.ranks = {rank(0), rank(5), rank(0)};
  EXPECT_THAT(program::mean_at_work(steps, 2, ms(0), ms(40)), ElementsAre(20. / 40 + 15. / 40, 20. / 40));
  EXPECT_THAT(program::mean_at_work(steps, 2, ms(5), ms(25)), ElementsAre(10. / 20 + 10. / 20, 10. / 20));
}

}  // namespace
}  // namespace idlewave::analysis
