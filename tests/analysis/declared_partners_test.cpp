// Who waits for whom, as ranks say it: judged by what follows from the messages, step by step.

#include "monitor/analysis/declared_partners.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "monitor/analysis/causes.h"
#include "monitor/analysis/declared_messages.h"
#include "monitor/analysis/waves.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "workloads/sim/core/partners.h"

namespace idlewave::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using timeline::Timeline;
using wire::Rank;

/// A timeline of ranks that said this, and did nothing.
Timeline that_said(Rank ranks, const std::vector<wire::WaitPattern>& patterns,
                   const std::vector<wire::WaitCycle>& cycles, const std::vector<std::uint32_t>& follows) {
  wire::Roster roster;
  roster.world_size = ranks;
  roster.patterns = patterns;
  roster.cycles = cycles;
  for (Rank rank = 0; rank < Rank(follows.size()); ++rank)
    roster.ranks.push_back({rank, 1, wire::kNoDomain, follows[std::size_t(rank)]});
  Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  return timeline;
}

std::vector<std::uint32_t> all_follow(Rank ranks) { return std::vector<std::uint32_t>(std::size_t(ranks), 1); }

wire::WaitPattern receives(std::vector<Rank> from) { return {false, false, std::move(from), {}}; }
const wire::WaitPattern kAllMeet{false, true, {}, {}};

std::vector<Rank> awaited(const RankPartners& partners, Rank rank, wire::Step step) {
  const auto offsets = partners.awaited(rank, step);
  return {offsets.begin(), offsets.end()};
}

/// In its step `step`, and for all that come.
void say(Timeline& timeline, Rank rank, int step, std::uint64_t cycle) {
  const wire::Nanoseconds at(step);
  timeline.append("n1", {wire::LaneId::Kind::kRank, rank},
                  std::vector<wire::Event>{{at, std::uint64_t(step), wire::EventKind::kStep, wire::Phase::kNone},
                                           {at, cycle, wire::EventKind::kPartners, wire::Phase::kNone}});
}

TEST(DeclaredPartners, AreThoseOfEachRank) {
  const auto partners = RankPartners::declared_in(
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
  EXPECT_EQ(who_declares(timeline), WhoDeclares::kSome);
  const auto partners = RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 5), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 1, 5), IsEmpty());
  EXPECT_TRUE(partners->are_known_of(0, 0));
  EXPECT_FALSE(partners->are_known_of(1, 0));
}

TEST(DeclaredPartners, OfOthersAreWhatIsToldOfThem) {
  const Timeline timeline = that_said(9, {receives({1}), receives({2})}, {{{{0, 1}}}}, {1, 0, 1, 1, 1, 1, 1, 1, 1});
  std::vector<StepWaits> others(9);
  others[1] = {{-3, 6}, {}};
  const auto partners = RankPartners::declared_in(timeline, others);
  ASSERT_TRUE(partners);
  EXPECT_TRUE(partners->are_known_of(1, 0));
  EXPECT_THAT(awaited(*partners, 1, 0), ElementsAre(-3));
  EXPECT_THAT(awaited(*partners, 8, 0), ElementsAre(-1, 1, 2)) << "rank 1, for whom it waits, has waited for rank 7";
}

TEST(DeclaredPartners, AreNobodysWhereNobodySays) {
  EXPECT_EQ(who_declares(that_said(3, {}, {}, {0, 0, 0})), WhoDeclares::kNobody);
  EXPECT_FALSE(RankPartners::declared_in(that_said(3, {}, {}, {0, 0, 0})));
  EXPECT_FALSE(RankPartners::declared_in(Timeline()));
}

TEST(DeclaredPartners, OfSeveralWaitsAreThoseOfTheirPartnersBefore) {
  const auto partners =
      RankPartners::declared_in(that_said(20, {receives({1}), receives({2})}, {{{{0, 1}}}}, all_follow(20)));
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 0), ElementsAre(1, 2, 3));
}

TEST(DeclaredPartners, OfASendByRendezvousAreItsReceivers) {
  const auto partners = RankPartners::declared_in(that_said(9, {{true, false, {-1}, {1}}}, {{{{0}}}}, all_follow(9)));
  EXPECT_THAT(awaited(*partners, 0, 0), ElementsAre(-1, 1));
  EXPECT_TRUE(partners->is_ring());
}

TEST(DeclaredPartners, DifferFromStepToStepOfACycle) {
  const auto partners = RankPartners::declared_in(
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
  const auto partners =
      RankPartners::declared_in(that_said(9, {receives({1}), receives({2})}, {long_cycle(61), long_cycle(7)}, follows));
  ASSERT_TRUE(partners);
  EXPECT_THAT(awaited(*partners, 0, 0), ElementsAre(1)) << "its cycle of seven steps can be followed";
  EXPECT_THAT(awaited(*partners, 0, 6), ElementsAre(2));
  EXPECT_THAT(awaited(*partners, 1, 0), ElementsAre(1, 2));
}

TEST(DeclaredPartners, WhoseDistancesGoBeyondTheWorldDoNoHarm) {
  const auto partners =
      RankPartners::declared_in(that_said(3, {receives({-4'000'000, 3, 4'000'000})}, {{{{0}}}}, all_follow(3)));
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
    EXPECT_EQ(RankPartners::declared_in(timeline) != nullptr, has_room);
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
    const auto said = RankPartners::declared_in(session.timeline());
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

TEST(DeclaredMessages, AreThoseOfTheScenario) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  for (int i = 0; i < 100; ++i) {
    support::Scenario scenario = random.next(0, 0.1);
    scenario.machine.ranks = scenario.machine.ranks_per_domain = Rank(random.whole(20, 40));
    support::Communication& communication = scenario.communication;
    const bool split = random.whole(0, 1);
    communication.wait = split ? support::WaitFlavour::kSplit : support::WaitFlavour::kAll;
    communication.distances = {Rank(random.whole(1, 4)), Rank(random.whole(-4, -1))};
    if (random.whole(0, 1)) std::ranges::reverse(communication.distances);
    scenario.program.steps = 2;
    const test::SimulatedSession session(scenario, test::Says::kPartners);
    const auto said = declared_messages(session.timeline());
    ASSERT_TRUE(said);
    if (!split) std::ranges::sort(communication.distances);
    EXPECT_EQ(said->distances, communication.distances);
    EXPECT_EQ(said->split, split);
    EXPECT_EQ(said->ring, communication.topology == support::Topology::kRing);
    EXPECT_EQ(said->rendezvous, communication.protocol == support::Protocol::kRendezvous);
  }
}

/// As of a program that gathers behind its loop, or comes to another one.
TEST(DeclaredMessages, AreThoseOfTheLongestPartOfTheRun) {
  const std::vector<wire::WaitPattern> patterns{{false, false, {-1}, {1}}, kAllMeet, {false, false, {-2}, {2}}};
  const std::vector<wire::WaitCycle> cycles{{{{0}}}, {{{1}}}, {{{2}}}};
  for (const bool at_end : {true, false}) {
    Timeline timeline = that_said(9, patterns, cycles, all_follow(9));
    for (Rank rank = 0; rank < 9; ++rank) {
      say(timeline, rank, at_end ? 60 + rank % 3 : 20 + rank % 3, at_end ? 2 : 3);
      say(timeline, rank, 100, at_end ? 2 : 3);
    }
    const auto said = declared_messages(timeline);
    ASSERT_TRUE(said);
    EXPECT_THAT(said->distances, ElementsAre(at_end ? 1 : 2));
    EXPECT_TRUE(said->changes);
  }
  EXPECT_FALSE(declared_messages(that_said(9, patterns, cycles, all_follow(9)))->changes);
}

TEST(DeclaredMessages, AreNotSaidWhereStepsDifferOrAllMeet) {
  const std::vector<wire::WaitPattern> patterns{{false, false, {-1}, {1}}, kAllMeet, {false, false, {-1}, {2}}};
  EXPECT_TRUE(declared_messages(that_said(9, patterns, {{{{0}}}}, all_follow(9))));
  for (const wire::WaitCycle& cycle : {wire::WaitCycle{{{0}, {}}}, {{{1}}}, {{{0, 1}}}, {{{2}}}, {{{}}}})
    EXPECT_FALSE(declared_messages(that_said(9, patterns, {cycle}, all_follow(9))));
}

/// Ranks that wait for whomever they like: who each receives from, and when each has posted and ended its steps.
struct Graph {
  static constexpr wire::Nanoseconds kWork = std::chrono::milliseconds(10);
  static constexpr int kSteps = 60, kDelayed = 20;

  using Senders = std::vector<std::vector<Rank>>;  ///< By receiver.

  Senders senders, senders_later;
  int turn = kSteps;  ///< The first step of senders_later.
  /// Each rank exchanges with one after the other, in the order of ranks: who sends to a rank also receives from it.
  bool one_by_one = false;
  Rank held = 0;
  wire::Nanoseconds delay{};

  Rank ranks() const { return Rank(senders.size()); }
  const Senders& senders_in(int step) const { return step < turn ? senders : senders_later; }

  /// By rank, then step: when it begins.
  std::vector<std::vector<wire::Nanoseconds>> begins() const {
    std::vector<std::vector<wire::Nanoseconds>> begins(senders.size(), {wire::Nanoseconds{0}});
    for (int step = 0; step < kSteps; ++step) {
      if (one_by_one) {
        exchange_one_by_one(begins, step);
        continue;
      }
      for (Rank rank = 0; rank < ranks(); ++rank) {
        wire::Nanoseconds end = post(begins, rank, step);
        for (const Rank sender : senders_in(step)[std::size_t(rank)]) end = std::max(end, post(begins, sender, step));
        begins[std::size_t(rank)].push_back(end);
      }
    }
    return begins;
  }

  /// The order of pairs by their lower and then their higher rank is that of each rank's own exchanges.
  void exchange_one_by_one(std::vector<std::vector<wire::Nanoseconds>>& begins, int step) const {
    std::vector<wire::Nanoseconds> now;
    for (Rank rank = 0; rank < ranks(); ++rank) now.push_back(post(begins, rank, step));
    for (std::size_t lower = 0; lower < senders.size(); ++lower)
      for (std::size_t higher = lower + 1; higher < senders.size(); ++higher)
        if (std::ranges::find(senders[lower], Rank(higher)) != senders[lower].end())
          now[lower] = now[higher] = std::max(now[lower], now[higher]);
    for (std::size_t rank = 0; rank < now.size(); ++rank) begins[rank].push_back(now[rank]);
  }

  wire::Nanoseconds post(const std::vector<std::vector<wire::Nanoseconds>>& begins, Rank rank, int step) const {
    return begins[std::size_t(rank)][std::size_t(step)] + own(rank, step);
  }

  /// Ranks are a little unlike one another, but always the same.
  wire::Nanoseconds own(Rank rank, int step) const {
    const bool is_held = rank == held && step == kDelayed;
    return kWork + std::chrono::microseconds(rank * 7 % 50) + (is_held ? delay : wire::Nanoseconds{0});
  }

  Timeline timeline(test::Says says, const std::vector<Rank>& silent) const {
    wire::Roster roster;
    roster.world_size = ranks();
    sim::core::WaitTable waits(ranks());
    for (Rank rank = 0; rank < ranks(); ++rank) roster.ranks.push_back({rank, 1, wire::kNoDomain, 0});
    if (turn < kSteps) follow(senders_later, waits);
    const std::vector<std::uint32_t> later = waits.follows();
    follow(senders, waits);
    if (says == test::Says::kPartners) sim::emitter::say_waits(waits, roster);
    for (const Rank rank : silent) roster.ranks[std::size_t(rank)].cycle = 0;
    Timeline timeline;
    EXPECT_TRUE(timeline.apply_roster("n1", roster));
    const auto all = begins();
    for (Rank rank = 0; rank < ranks(); ++rank)
      timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events_of(all, rank, later[std::size_t(rank)]));
    timeline.advance("n1", all.front().back());
    return timeline;
  }

  void follow(const Senders& all, sim::core::WaitTable& waits) const {
    for (Rank rank = 0; rank < ranks(); ++rank) {
      const std::vector<Rank>& its = all[std::size_t(rank)];
      std::vector<std::uint32_t> step;
      if (!one_by_one) step.push_back(waits.wait(rank, its, {}, false));
      for (std::size_t i = 0; one_by_one && i < its.size(); ++i)
        step.push_back(waits.wait(rank, std::span(its).subspan(i, 1), std::span(its).subspan(i, 1), false));
      waits.follow(rank, {step});
    }
  }

  /// `later`: the cycle that it says to follow when the first of those steps ends.
  std::vector<wire::Event> events_of(const std::vector<std::vector<wire::Nanoseconds>>& begins, Rank rank,
                                     std::uint32_t later) const {
    using wire::EventKind, wire::Phase;
    std::vector<wire::Event> events{{{}, 0, EventKind::kStart, Phase::kNone}};
    for (int step = 0; step < kSteps; ++step) {
      const wire::Nanoseconds begin = begins[std::size_t(rank)][std::size_t(step)];
      if (step == turn + 1) events.push_back({begin, later, EventKind::kPartners, Phase::kWait});
      events.push_back({begin, std::uint64_t(step), EventKind::kStep, step > 0 ? Phase::kWait : Phase::kNone});
      events.push_back({begin, 0, step > 0 ? EventKind::kSwitch : EventKind::kEnter, Phase::kCompute});
      events.push_back({post(begins, rank, step), 0, EventKind::kSwitch, Phase::kWait});
    }
    events.push_back({begins[std::size_t(rank)].back(), 0, EventKind::kStop, Phase::kNone});
    return events;
  }

  /// Ranks that end a step later, by a tenth of one, because of the delay.
  int truly_reached() const {
    Graph without = *this;
    without.delay = {};
    const auto late = begins(), usual = without.begins();
    int reached = 0;
    for (Rank rank = 0; rank < ranks(); ++rank)
      for (int step = 0; step <= kSteps; ++step)
        if (rank != held &&
            late[std::size_t(rank)][std::size_t(step)] >= usual[std::size_t(rank)][std::size_t(step)] + kWork / 10) {
          ++reached;
          break;
        }
    return reached;
  }
};

/// A part of them, at least one and not all.
std::vector<Rank> some_ranks(Rank ranks, std::mt19937& random) {
  std::vector<Rank> some(static_cast<std::size_t>(ranks));
  std::iota(some.begin(), some.end(), 0);
  std::ranges::shuffle(some, random);
  some.resize(1 + random() % std::size_t(ranks - 1));
  return some;
}

bool is_found(const Graph& graph, test::Says says, const std::vector<Rank>& silent = {}) {
  const Timeline timeline = graph.timeline(says, silent);
  for (const Wave& wave : find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()}))
    if (wave.origin_rank == graph.held && wave.origin_step == Graph::kDelayed)
      return wave.up.reach_ranks + wave.down.reach_ranks == graph.truly_reached();
  return graph.truly_reached() == 0;
}

TEST(DeclaredPartners, TellHowFarAWaveComesWhereEachRankWaitsForOthers) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kPrograms = 60;
  int declared = 0, partly = 0, inferred = 0;
  for (int i = 0; i < kPrograms; ++i) {
    Graph graph;
    graph.senders.resize(10 + random() % 40);
    for (auto& senders : graph.senders)
      for (unsigned count = random() % 4; count > 0; --count) senders.push_back(Rank(random() % graph.senders.size()));
    graph.held = Rank(random() % graph.senders.size());
    graph.delay = Graph::kWork * (3 + random() % 20);
    declared += is_found(graph, test::Says::kPartners);
    partly += is_found(graph, test::Says::kPartners, some_ranks(graph.ranks(), random));
    inferred += is_found(graph, test::Says::kNothing);
  }
  std::printf("of %d programs %d told right with declared partners, %d with some, %d with inferred ones\n", kPrograms,
              declared, partly, inferred);
  EXPECT_GE(declared, kPrograms - 1);
  EXPECT_GE(partly, kPrograms - 6);
  EXPECT_GE(inferred, kPrograms - 6);
}

Graph::Senders random_senders(std::size_t ranks, std::mt19937& random) {
  Graph::Senders all(ranks);
  for (auto& senders : all)
    for (unsigned count = random() % 4; count > 0; --count) senders.push_back(Rank(random() % ranks));
  return all;
}

/// Before the wave, while it runs, and where it has come to nobody for some steps; that it reaches who begins to wait for
/// it 24 steps later is not followed.
TEST(DeclaredPartners, TellHowFarAWaveComesInARunWhoseRanksWaitForOthersFromSomeStepOn) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kPrograms = 60;
  int right = 0;
  for (int i = 0; i < kPrograms; ++i) {
    Graph graph;
    graph.senders = random_senders(10 + random() % 40, random);
    graph.senders_later = random_senders(graph.senders.size(), random);
    graph.turn = 5 + int(random() % 35);
    graph.held = Rank(random() % graph.senders.size());
    graph.delay = Graph::kWork * (3 + random() % 20);
    right += is_found(graph, test::Says::kPartners);
  }
  std::printf("of %d programs %d told right\n", kPrograms, right);
  EXPECT_GE(right, kPrograms - 1);
}

/// A rank hands on in the same step what has made it late before it came to the next one, and waits for others before.
TEST(DeclaredPartners, TellHowFarAWaveComesWhereEachRankHasItsOwnOrderOfPartners) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  constexpr int kPrograms = 60;
  int right = 0;
  for (int i = 0; i < kPrograms; ++i) {
    Graph graph;
    graph.one_by_one = true;
    graph.senders.resize(5 + random() % 40);
    const auto link = [&](std::size_t a, std::size_t b) {
      if (a == b || std::ranges::find(graph.senders[a], Rank(b)) != graph.senders[a].end()) return;
      graph.senders[a].push_back(Rank(b));
      graph.senders[b].push_back(Rank(a));
    };
    const std::size_t near = 1 + random() % 4;
    for (std::size_t rank = 1; rank < graph.senders.size(); ++rank)
      link(rank, rank - 1 - random() % std::min(rank, near));
    for (std::size_t more = random() % 6; more > 0; --more)
      link(random() % graph.senders.size(), random() % graph.senders.size());
    for (auto& its : graph.senders) std::ranges::sort(its);
    graph.held = Rank(random() % graph.senders.size());
    graph.delay = Graph::kWork * (3 + random() % 20);
    right += is_found(graph, test::Says::kPartners);
  }
  std::printf("of %d programs %d told right\n", kPrograms, right);
  EXPECT_GE(right, kPrograms - 1);
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
    const auto all = RankPartners::declared_in(that_said(ranks, patterns, {cycle}, all_follow(ranks)));
    ASSERT_TRUE(all);
    EXPECT_TRUE(all->is_collective(0)) << ranks;
    cycle.steps[0].pop_back();
    const auto some = RankPartners::declared_in(that_said(ranks, patterns, {cycle}, all_follow(ranks)));
    ASSERT_TRUE(some);
    EXPECT_FALSE(some->is_collective(0)) << ranks;
  }
}

TEST(DeclaredPartners, AreThoseOfThePartOfTheRunThatAStepBelongsTo) {
  Timeline timeline =
      that_said(9, {receives({1}), receives({2}), kAllMeet}, {{{{0}}}, {{{1}}}, {{{2}}}}, all_follow(9));
  for (Rank rank = 0; rank < 9; ++rank) say(timeline, rank, 100, 2);
  for (Rank rank = 0; rank < 9; ++rank) say(timeline, rank, 300, 3);
  const auto partners = RankPartners::declared_in(timeline);
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
  const auto partners = RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  EXPECT_THAT(partners->offsets_in(15), IsEmpty());
  EXPECT_FALSE(partners->is_collective(15));
}

TEST(DeclaredPartners, AreNotKnownWhereARankSaysNothingInBetween) {
  Timeline timeline = that_said(9, {receives({1}), receives({2})}, {{{{0}}}, {{{1}}}}, all_follow(9));
  say(timeline, 4, 10, 0);
  say(timeline, 4, 20, 2);
  const auto partners = RankPartners::declared_in(timeline);
  ASSERT_TRUE(partners);
  for (const wire::Step step : {9, 10, 19, 20}) {
    EXPECT_EQ(partners->are_known_of(4, step), step < 10 || step >= 20) << step;
    EXPECT_TRUE(partners->are_known_of(3, step));
  }
  EXPECT_THAT(awaited(*partners, 4, 9), ElementsAre(1));
  EXPECT_THAT(awaited(*partners, 4, 20), ElementsAre(2));
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
    const auto stretches = stretches_of(all, 7);
    ASSERT_LE(stretches.size(), 7u);
    ASSERT_TRUE(all.size() > 7 || stretches.size() == all.size());
    std::size_t within = 0;
    for (const StretchOfSteps& stretch : stretches) {
      ASSERT_TRUE(steps.contains(stretch.first) && steps.contains(stretch.last));
      within += std::size_t(
          std::ranges::count_if(all, [&](wire::Step step) { return stretch.first <= step && step <= stretch.last; }));
    }
    ASSERT_EQ(within, all.size());
  }
}

/// Of the waiting of these ranks, nanoseconds: what one of both gives to another cause than the other does.
double given_to_others(const RankCauses& one, const RankCauses& other) {
  std::map<Rank, double> difference;
  for (const Culprit& culprit : one.by) difference[culprit.rank] += double(culprit.cost.sum().count());
  for (const Culprit& culprit : other.by) difference[culprit.rank] -= double(culprit.cost.sum().count());
  double sum = std::abs(double((one.transfer - other.transfer).count())) +
               std::abs(double((one.unknown - other.unknown).count())) +
               std::abs(double((one.bandwidth - other.bandwidth).count())) +
               std::abs(double((one.itself - other.itself).count()));
  for (const auto& [rank, each] : difference) sum += std::abs(each);
  return sum / 2;
}

/// Who was late is told of a rank that says whom it waits for as where all ranks say it; where their own times tell it,
/// of the others too.
TEST(DeclaredPartners, OfSomeRanksTellWavesAndCausesAsThoseOfAll) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  std::mt19937 choice(seed);
  constexpr int kPrograms = 40;
  int waves = 0, same_waves = 0, good = 0;
  for (int i = 0; i < kPrograms; ++i) {
    support::Scenario scenario = random.next(random.whole(0, 1) * random.real(0, 0.05), 2);
    scenario.communication.wait = random.whole(0, 1) ? support::WaitFlavour::kSplit : support::WaitFlavour::kAll;
    const Nanoseconds step = Nanoseconds(std::chrono::seconds(2)) / scenario.program.steps;
    scenario.delays = {
        {Rank(random.whole(0, scenario.machine.ranks - 1)), scenario.program.steps / 3, step * random.whole(5, 20)}};
    const std::vector<Rank> silent = some_ranks(scenario.machine.ranks, choice);
    const test::SimulatedSession all(scenario, test::Says::kPartners), some(scenario, test::Says::kPartners, silent);
    const Window run{Nanoseconds{0}, Nanoseconds::max()};
    const Causes of_all = find_causes(all.timeline(), run), of_some = find_causes(some.timeline(), run);
    double waited = 0, other = 0;
    for (Rank rank = 0; rank < scenario.machine.ranks; ++rank) {
      if (std::ranges::find(silent, rank) != silent.end()) continue;
      const std::size_t place(rank);
      waited += double(of_all.ranks[place].waited.count());
      other += given_to_others(of_all.ranks[place], of_some.ranks[place]);
    }
    good += other <= 0.02 * waited;
    const auto expected = find_waves(all.timeline(), run), found = find_waves(some.timeline(), run);
    for (const Wave& wave : expected) {
      ++waves;
      same_waves += std::ranges::any_of(found, [&](const Wave& its) {
        return its.origin_rank == wave.origin_rank && its.origin_step == wave.origin_step &&
               its.up.reach_ranks == wave.up.reach_ranks && its.down.reach_ranks == wave.down.reach_ranks;
      });
    }
  }
  std::printf("of %d programs %d have the same causes, of %d waves %d reach as many\n", kPrograms, good, waves,
              same_waves);
  EXPECT_GE(good, kPrograms * 8 / 10);
  EXPECT_GE(same_waves, waves * 8 / 10);
}

}  // namespace
}  // namespace idlewave::analysis
