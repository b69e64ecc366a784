// Who waits for whom, as ranks say it: judged by what follows from the messages, step by step.

#include "monitor/analysis/partners/declared_partners.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "monitor/analysis/partners/stretches.h"
#include "tests/analysis/said_partners.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "workloads/sim/core/partners.h"

namespace idlewave::analysis {
namespace {

using test::all_follow, test::kAllMeet, test::receives, test::say, test::that_said;
using testing::ElementsAre;
using testing::IsEmpty;
using timeline::Timeline;
using wire::Rank;

std::vector<Rank> awaited(const partners::RankPartners& partners, Rank rank, wire::Step step) {
  const auto offsets = partners.awaited(rank, step);
  return {offsets.begin(), offsets.end()};
}

TEST(DeclaredPartners, AreThoseOfEachRank) {
  const auto partners = partners::RankPartners::declared_in(
      that_said(4, {receives({1}), receives({-1, 1}), receives({-1})}, {{{{0}}}, {{{1}}}, {{{2}}}}, {1, 2, 2, 3}));
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 5), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 1, 5), ElementsAre(-1, 1));
  EXPECT_THAT(awaited(*partners, 3, 5), ElementsAre(-1));
  EXPECT_THAT(partners->offsets(), ElementsAre(-1, 1));
  EXPECT_FALSE(partners->is_ring());
  EXPECT_THAT(std::vector<Rank>(partners->waiters(0, 5).begin(), partners->waiters(0, 5).end()), ElementsAre(1));
}

TEST(DeclaredPartners, AreKnownOfThoseWhoSayThem) {
  const Timeline timeline = that_said(3, {receives({1})}, {{{{0}}}}, {1, 0, 1});
  EXPECT_EQ(partners::who_declares(timeline), partners::WhoDeclares::kSome);
  const auto partners = partners::RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 5), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 1, 5), IsEmpty());
  EXPECT_TRUE(partners->are_known_of(0, 0));
  EXPECT_FALSE(partners->are_known_of(1, 0));
}

TEST(DeclaredPartners, OfOthersAreWhatIsToldOfThem) {
  const Timeline timeline = that_said(9, {receives({1}), receives({2})}, {{{{0, 1}}}}, {1, 0, 1, 1, 1, 1, 1, 1, 1});
  std::vector<partners::StepWaits> others(9);
  others[1] = {{-3, 6}, {}};
  const auto partners = partners::RankPartners::declared_in(timeline, others);
  ASSERT_TRUE(partners);
  EXPECT_TRUE(partners->are_known_of(1, 0));
  EXPECT_THAT(awaited(*partners, 1, 0), ElementsAre(-3));
  EXPECT_THAT(awaited(*partners, 8, 0), ElementsAre(-1, 1, 2)) << "rank 1, for whom it waits, has waited for rank 7";
}

TEST(DeclaredPartners, AreNobodysWhereNobodySays) {
  EXPECT_EQ(partners::who_declares(that_said(3, {}, {}, {0, 0, 0})), partners::WhoDeclares::kNobody);
  EXPECT_FALSE(partners::RankPartners::declared_in(that_said(3, {}, {}, {0, 0, 0})));
  EXPECT_FALSE(partners::RankPartners::declared_in(Timeline()));
}

TEST(DeclaredPartners, OfSeveralWaitsAreThoseOfTheirPartnersBefore) {
  const auto partners =
      partners::RankPartners::declared_in(that_said(20, {receives({1}), receives({2})}, {{{{0, 1}}}}, all_follow(20)));
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 0), ElementsAre(1, 2, 3));
}

TEST(DeclaredPartners, OfASendByRendezvousAreItsReceivers) {
  const auto partners =
      partners::RankPartners::declared_in(that_said(9, {{true, false, {-1}, {1}}}, {{{{0}}}}, all_follow(9)));
  EXPECT_THAT(awaited(*partners, 0, 0), ElementsAre(-1, 1));
  EXPECT_TRUE(partners->is_ring());
}

TEST(DeclaredPartners, DifferFromStepToStepOfACycle) {
  const auto partners = partners::RankPartners::declared_in(
      that_said(9, {receives({1}), receives({2}), kAllMeet}, {{{{0}, {1}, {1, 2}}}}, all_follow(9)));
  EXPECT_THAT(awaited(*partners, 0, 3), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 0, 4), ElementsAre(2));
  EXPECT_FALSE(partners->is_collective(4));
  EXPECT_TRUE(partners->is_collective(5));
}

TEST(DeclaredPartners, WithCyclesThatMeetTooSeldomAreThoseOfAllSteps) {
  const auto long_cycle = [](std::uint32_t steps) {
    wire::WaitCycle cycle{std::vector<std::vector<std::uint32_t>>(steps, {0})};
    cycle.steps.back() = {1};
    return cycle;
  };
  std::vector<std::uint32_t> follows = all_follow(9);
  follows[0] = 2;
  const auto partners = partners::RankPartners::declared_in(
      that_said(9, {receives({1}), receives({2})}, {long_cycle(61), long_cycle(7)}, follows));
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 0), ElementsAre(1)) << "its cycle of seven steps can be followed";
  EXPECT_THAT(awaited(*partners, 0, 6), ElementsAre(2));
  EXPECT_THAT(awaited(*partners, 1, 0), ElementsAre(1, 2));
}

TEST(DeclaredPartners, WhoseDistancesGoBeyondTheWorldDoNoHarm) {
  const auto partners = partners::RankPartners::declared_in(
      that_said(3, {receives({-4'000'000, 3, 4'000'000})}, {{{{0}}}}, all_follow(3)));
  ASSERT_TRUE(partners);
  for (Rank rank = 0; rank < 3; ++rank)
    for (const Rank offset : awaited(*partners, rank, 0)) EXPECT_TRUE(offset == 1 || offset == -1);
}

/// What a rank's step can't end before, from the messages alone: in each stage after all it waits for have come to it.
std::set<Rank> truly_awaited(const sim::core::Partners& partners, Rank rank, int stages) {
  std::set<Rank> all;
  if (stages == 0) return all;
  all = truly_awaited(partners, rank, stages - 1);
  partners.for_each_awaited(rank, stages - 1, [&](Rank other) {
    all.insert(other);
    all.merge(truly_awaited(partners, other, stages - 1));
  });
  all.erase(rank);
  return all;
}

TEST(DeclaredPartners, OfManyRanksThatAreNotThereAreLeftOutByTheBudget) {
  std::vector<Rank> far(70'000);
  std::iota(far.begin(), far.end(), 1);
  wire::Roster roster;
  roster.world_size = 150'000;
  roster.patterns = {receives(far)};
  roster.cycles = {{{{0}}}};
  for (Rank rank = 0; rank < 100; ++rank) roster.ranks.push_back({rank, 1, wire::kNoDomain, 1});
  for (const bool has_room : {false, true}) {
    Timeline timeline(has_room ? 1024u << 20 : 64u << 20);
    ASSERT_TRUE(timeline.apply_roster("n1", roster));
    EXPECT_EQ(partners::RankPartners::declared_in(timeline) != nullptr, has_room);
  }
}

/// Each of many ranks that may not be there says of sixty waits that nobody is awaited in them.
TEST(DeclaredPartners, OfMoreWaitsThanThereIsRoomForAreLeftOut) {
  constexpr Rank kRanks = 150'000;
  for (const Rank ranks : {1'000, kRanks}) {
    wire::Roster roster;
    roster.world_size = kRanks;
    roster.patterns = {receives({})};
    roster.cycles = {{{std::vector<std::uint32_t>(60, 0)}}};
    for (Rank rank = 0; rank < ranks; ++rank) roster.ranks.push_back({rank, 1, wire::kNoDomain, 1});
    Timeline timeline(64u << 20);
    ASSERT_TRUE(timeline.apply_roster("n1", roster));
    EXPECT_EQ(partners::RankPartners::declared_in(timeline) != nullptr, ranks < kRanks) << ranks;
  }
}

TEST(DeclaredPartners, OfSimulatedRanksAreThoseThatTheSimulationWaitsFor) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  for (int i = 0; i < 200; ++i) {
    support::Scenario scenario = random.next(0, 0.1);
    scenario.machine.ranks = Rank(random.whole(2, 40));
    scenario.machine.ranks_per_domain = scenario.machine.ranks;
    scenario.communication.wait = random.whole(0, 1) ? support::WaitFlavour::kSplit : support::WaitFlavour::kAll;
    scenario.communication.distances.clear();
    for (int count = random.whole(1, 3); count > 0; --count)
      scenario.communication.distances.push_back(Rank(random.whole(-4, 4)));
    scenario.program.steps = 3;
    const auto model = sim::model_of(scenario);
    ASSERT_TRUE(model);
    const test::SimulatedSession session(scenario, test::Says::kPartners);
    const auto said = partners::RankPartners::declared_in(session.timeline());
    ASSERT_TRUE(said);
    for (Rank rank = 0; rank < model->ranks; ++rank) {
      std::set<Rank> ranks;
      for (const Rank offset : said->awaited(rank, 1)) ranks.insert((rank + offset + model->ranks) % model->ranks);
      for (Rank other = 0; said->is_collective(1) && other < model->ranks; ++other)
        if (other != rank) ranks.insert(other);
      ASSERT_EQ(ranks, truly_awaited(model->partners, rank, model->partners.stages()))
          << "program " << i << ", rank " << rank << " of " << model->ranks;
    }
  }
}

TEST(DeclaredPartners, WhoMeetInSeveralWaitsAreThoseOfACollective) {
  std::mt19937 random(any_seed());
  for (int i = 0; i < 100; ++i) {
    const Rank ranks = 3 + Rank(random() % 200);
    std::vector<wire::WaitPattern> patterns;
    wire::WaitCycle cycle{{{}}};
    for (Rank distance = 1; distance < ranks; distance *= 2) {
      cycle.steps[0].push_back(std::uint32_t(patterns.size()));
      patterns.push_back({false, false, {-distance}, {distance}});
    }
    const auto all = partners::RankPartners::declared_in(that_said(ranks, patterns, {cycle}, all_follow(ranks)));
    ASSERT_TRUE(all);
    EXPECT_TRUE(all->is_collective(0)) << ranks;
    cycle.steps[0].pop_back();
    const auto some = partners::RankPartners::declared_in(that_said(ranks, patterns, {cycle}, all_follow(ranks)));
    ASSERT_TRUE(some);
    EXPECT_FALSE(some->is_collective(0)) << ranks;
  }
}

TEST(DeclaredPartners, AreThoseOfThePartOfTheRunThatAStepBelongsTo) {
  Timeline timeline =
      that_said(9, {receives({1}), receives({2}), kAllMeet}, {{{{0}}}, {{{1}}}, {{{2}}}}, all_follow(9));
  for (Rank rank = 0; rank < 9; ++rank) say(timeline, rank, 100, 2);
  for (Rank rank = 0; rank < 9; ++rank) say(timeline, rank, 300, 3);
  const auto partners = partners::RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  for (const wire::Step step : {0, 99}) EXPECT_THAT(awaited(*partners, 0, step), ElementsAre(1)) << step;
  for (const wire::Step step : {100, 299}) EXPECT_THAT(awaited(*partners, 0, step), ElementsAre(2)) << step;
  EXPECT_THAT(partners->offsets_in(50), ElementsAre(1));
  EXPECT_THAT(partners->offsets(), ElementsAre(1, 2));
  EXPECT_FALSE(partners->is_collective(299));
  EXPECT_TRUE(partners->is_collective(300));
  EXPECT_TRUE(partners->are_collective_around(1000));
  EXPECT_FALSE(partners->are_collective()) << "not of the whole run";
}

TEST(DeclaredPartners, AreNobodysWhereNobodySaysThemInBetween) {
  Timeline timeline = that_said(2, {receives({1})}, {{{{0}}}}, all_follow(2));
  for (const Rank rank : {0, 1}) {
    say(timeline, rank, 10, 0);
    say(timeline, rank, 20, 1);
  }
  const auto partners = partners::RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  EXPECT_THAT(partners->offsets_in(15), IsEmpty());
  EXPECT_FALSE(partners->is_collective(15));
}

TEST(DeclaredPartners, AreNotKnownWhereARankSaysNothingInBetween) {
  Timeline timeline = that_said(9, {receives({1}), receives({2})}, {{{{0}}}, {{{1}}}}, all_follow(9));
  say(timeline, 4, 10, 0);
  say(timeline, 4, 20, 2);
  const auto partners = partners::RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  for (const wire::Step step : {9, 10, 19, 20}) {
    EXPECT_EQ(partners->are_known_of(4, step), step < 10 || step >= 20) << step;
    EXPECT_TRUE(partners->are_known_of(3, step));
  }
  EXPECT_THAT(awaited(*partners, 4, 9), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 4, 20), ElementsAre(2));
}

/// As ranks say it of a cycle that begins anew with each set of a solver's iterations, each some steps behind that: of every
/// step whom each rank said last that it waits for.
TEST(DeclaredPartners, AreThoseOfEveryStepHoweverOftenTheirCycleBeginsAnew) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::vector<Rank>> exchanges = {{1}, {2}, {-1}, {1, 2}, {-1, 1}, {-1, 2}, {-1, 1, 2}};
  constexpr Rank kRanks = 4;
  for (const int sets : {1, 12, 400}) {
    const auto length = 2 + random() % (exchanges.size() - 1);
    std::vector<wire::WaitPattern> patterns;
    std::vector<wire::WaitCycle> cycles(length);
    for (std::uint32_t i = 0; i < length; ++i) {
      patterns.push_back(receives(exchanges[i]));
      for (std::uint32_t step = 0; step < length; ++step)
        cycles[i].steps.push_back({std::uint32_t((step + i) % length)});
    }
    Timeline timeline = that_said(kRanks, patterns, cycles, all_follow(kRanks));
    std::vector<std::vector<std::size_t>> shifts(kRanks, {0});  // by rank and step
    std::size_t shift = 0;
    for (int set = 0, begin = 0; set < sets; ++set) {
      begin += 30 + int(random() % 50), shift += 1 + random() % (length - 1);
      for (auto& its : shifts) {
        const auto learnt = std::size_t(begin) + random() % 6;
        its.resize(learnt, its.back());
        its.push_back(shift % length);
        say(timeline, Rank(&its - shifts.data()), int(learnt), 1 + shift % length);
      }
    }
    const auto partners = partners::RankPartners::declared_in(timeline);
    ASSERT_TRUE(partners);
    for (Rank rank = 0; rank < kRanks; ++rank)
      for (std::size_t step = 0; step < shifts[std::size_t(rank)].size(); ++step)
        ASSERT_EQ(awaited(*partners, rank, wire::Step(step)),
                  exchanges[(step + shifts[std::size_t(rank)][step]) % length])
            << "rank " << rank << ", step " << step << ", " << sets << " sets";
  }
}

/// Of very many ranks that is too much to be read at once: then steps are taken together that lie close to each other.
TEST(DeclaredPartners, OfManyRanksThatOftenSayOtherThingsAreThoseOfTheLongerParts) {
  constexpr Rank kRanks = 5000;
  Timeline timeline = that_said(kRanks, {receives({1}), receives({2})}, {{{{0}}}, {{{1}}}}, all_follow(kRanks));
  for (int change = 0; change < 60; ++change)
    for (Rank rank = 0; rank < kRanks; rank += 7) say(timeline, rank, 1000 + change, 1 + std::uint64_t(change + 1) % 2);
  const auto partners = partners::RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  EXPECT_LE(partners->parts(), 8u);
  for (const Rank rank : {0, 1, 7}) EXPECT_THAT(awaited(*partners, rank, 500), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 0, 1060), ElementsAre(1));
}

TEST(DeclaredPartners, AreKnownOfTheStepsOfWhichARankSaidThemWhereItSaysNothingAtTheEnd) {
  for (const int until : {10, 100}) {
    Timeline timeline = that_said(9, {receives({1}), receives({2})}, {{{{0}}}, {{{1}}}}, all_follow(9));
    say(timeline, 4, 0, 1);
    say(timeline, 4, until, 0);
    for (Rank rank = 0; rank < 9; ++rank)
      if (rank != 4) say(timeline, rank, 120, 2);
    EXPECT_EQ(partners::who_declares(timeline),
              until == 100 ? partners::WhoDeclares::kAll : partners::WhoDeclares::kSome);
    const auto partners = partners::RankPartners::declared_in(timeline);
    ASSERT_TRUE(partners);
    EXPECT_THAT(awaited(*partners, 4, until - 1), ElementsAre(1));
    for (const wire::Step step : {0, until - 1, until, 119, 120})
      EXPECT_EQ(partners->are_known_of(4, step), step < until) << step;
  }
}

/// Who says something new in each step, or steps of its own, keeps within what there is room for.
TEST(StretchesOfSteps, AreAsManyAsThereIsRoomForAndLeaveNoStepOut) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 200; ++i) {
    std::set<wire::Step> steps;
    const std::uint64_t farthest = std::uint64_t{1} << (3 + random() % 46);
    for (auto count = random() % 50; count > 0; --count) steps.insert(wire::Step(random() % farthest) - 1);
    const std::vector<wire::Step> all(steps.begin(), steps.end());
    const auto stretches = partners::stretches_of(all, 7);
    ASSERT_LE(stretches.size(), 7u);
    ASSERT_TRUE(all.size() > 7 || stretches.size() == all.size());
    std::size_t within = 0;
    for (const partners::StretchOfSteps& stretch : stretches) {
      ASSERT_TRUE(steps.contains(stretch.first) && steps.contains(stretch.last));
      within += std::size_t(
          std::ranges::count_if(all, [&](wire::Step step) { return stretch.first <= step && step <= stretch.last; }));
    }
    ASSERT_EQ(within, all.size());
  }
}

}  // namespace
}  // namespace idlewave::analysis
