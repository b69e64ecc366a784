// Whether sends wait for their receivers, where ranks don't say it: judged by simulated programs, of which that is known.

#include "monitor/analysis/partners/send_waits.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "monitor/analysis/partners/declared_partners.h"
#include "monitor/analysis/partners/partner_source.h"
#include "monitor/analysis/steps/step_history.h"
#include "tests/analysis/ms.h"
#include "tests/analysis/said_partners.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using testing::ElementsAre;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;

wire::WaitPattern perhaps(std::vector<Rank> from, std::vector<Rank> to) {
  return {false, false, std::move(from), std::move(to), true};
}

std::vector<wire::WaitPattern> settled(const std::vector<wire::WaitPattern>& patterns, partners::SendRules rules) {
  std::vector<std::uint32_t> step;
  for (std::uint32_t i = 0; i < patterns.size(); ++i) step.push_back(i);
  const Timeline timeline = test::that_said(9, patterns, {{{step}}}, test::all_follow(9));
  const partners::SaidWaits all(timeline, std::move(rules));
  const auto said = all.by(4);
  std::vector<wire::WaitPattern> told;
  if (!said) return told;
  for (const std::uint32_t number : said->cycle->steps[0]) told.push_back(said->patterns[number]);
  return told;
}

TEST(SaidWaits, AreThoseOfARankThatKnowsWhetherItsSendsWait) {
  const std::vector<wire::WaitPattern> shift{perhaps({-1}, {1})};
  EXPECT_THAT(settled(shift, {}), ElementsAre(shift[0])) << "left open";
  EXPECT_THAT(settled(shift, {.others = false}), ElementsAre(wire::WaitPattern{false, false, {-1}, {1}}));
  EXPECT_THAT(settled(shift, {.others = true}), ElementsAre(wire::WaitPattern{true, false, {-1}, {1}}));
  EXPECT_THAT(settled(shift, {.wait = {{{1, true}, true}}}), ElementsAre(shift[0])) << "that is of another node";
}

TEST(SaidWaits, LeaveOutSendsThatDoNotWaitBesideThoseThatDo) {
  EXPECT_THAT(settled({perhaps({-1}, {1, 2})}, {.wait = {{{1, false}, false}, {{2, false}, true}}}),
              ElementsAre(wire::WaitPattern{true, false, {-1}, {2}}));
}

TEST(SaidWaits, NeedNoRuleForSendsToThoseWhoAreWaitedForAnyway) {
  EXPECT_THAT(settled({perhaps({-1}, {-1, 1})}, {.wait = {{{1, false}, false}}}),
              ElementsAre(wire::WaitPattern{false, false, {-1}, {-1, 1}}));
}

TEST(SaidWaits, LeaveThoseOpenOfWhichNothingIsKnownWithAllThatMayWaitWithThem) {
  const auto rules = [](bool near) { return partners::SendRules{.wait = {{{1, false}, near}}}; };
  EXPECT_THAT(settled({perhaps({-1}, {1, 2})}, rules(false)), ElementsAre(perhaps({-1}, {2})));
  EXPECT_THAT(settled({perhaps({-1}, {1, 2})}, rules(true)), ElementsAre(perhaps({-1}, {1, 2})));
  EXPECT_THAT(settled({perhaps({}, {1}), perhaps({}, {2}), test::receives({-1})}, rules(false)),
              ElementsAre(perhaps({}, {2}), test::receives({-1})));
}

/// As the probe says it of a rank whose sends are known not to wait.
TEST(SaidWaits, OfSendsThatDoNotWaitBelongToTheWaitThatFollows) {
  EXPECT_THAT(settled({perhaps({}, {1}), perhaps({}, {2}), {false, false, {-1}, {}}}, {.others = false}),
              ElementsAre(wire::WaitPattern{false, false, {-1}, {1, 2}}));
  EXPECT_THAT(
      settled({perhaps({}, {1}), test::kAllMeet, perhaps({}, {2})}, {.others = false}),
      ElementsAre(wire::WaitPattern{false, false, {}, {1}}, test::kAllMeet, wire::WaitPattern{false, false, {}, {2}}));
}

TEST(SaidWaits, AreTakenForThoseOfLaterStepsWhereARankDidNotKnowYet) {
  Timeline timeline =
      test::that_said(9, {perhaps({-1}, {1}), {true, false, {-1}, {1}}}, {{{{0}}}, {{{1}}}}, test::all_follow(9));
  for (const int step : {0, 40})
    for (Rank rank = 0; rank < 9; ++rank) test::say(timeline, rank, step, step == 0 ? 1 : 2);
  const partners::SaidWaits all(timeline);
  const auto said = all.by(4, 10);
  ASSERT_TRUE(said);
  EXPECT_TRUE(said->patterns[said->cycle->steps[0][0]].rendezvous);
}

/// Also where it is in another place of its cycle; unless its later sends to that one do now this and now that.
TEST(SaidWaits, AreSettledByWhatARankKnowsLaterOfItsSendsToTheSameRank) {
  const wire::WaitPattern early = perhaps({-1}, {1}), waiting{true, false, {}, {1}}, eager{false, false, {-2}, {1}};
  for (const bool is_mixed : {false, true}) {
    const wire::WaitCycle later{{{1}, {is_mixed ? 2u : 1u}}};
    Timeline timeline = test::that_said(9, {early, waiting, eager}, {{{{0}}}, later}, test::all_follow(9));
    for (const int step : {0, 40})
      for (Rank rank = 0; rank < 9; ++rank) test::say(timeline, rank, step, step == 0 ? 1 : 2);
    const partners::SaidWaits all(timeline);
    const auto said = all.by(4, 10);
    ASSERT_TRUE(said);
    const wire::WaitPattern settled = said->patterns[said->cycle->steps[0][0]];
    EXPECT_EQ(settled, is_mixed ? early : (wire::WaitPattern{true, false, {-1}, {1}}));
  }
}

/// In another place of its cycle, for example.
TEST(SaidWaits, AreNotTakenForThoseOfLaterStepsWhereARankReceivesFromOthers) {
  Timeline timeline =
      test::that_said(9, {perhaps({-1}, {1}), {true, false, {-2}, {2}}}, {{{{0}}}, {{{1}}}}, test::all_follow(9));
  for (const int step : {0, 40})
    for (Rank rank = 0; rank < 9; ++rank) test::say(timeline, rank, step, step == 0 ? 1 : 2);
  const partners::SaidWaits all(timeline);
  const auto said = all.by(4, 10);
  ASSERT_TRUE(said);
  EXPECT_THAT(said->patterns[said->cycle->steps[0][0]], perhaps({-1}, {1}));
}

/// A ring in which a rank sends to some others, and receives from some, all waited for at once.
struct Exchange {
  Rank ranks = 12, of_first_node = 12;
  std::vector<Rank> targets;
  std::function<bool(Rank rank, Rank offset, int step)> waits;
  unsigned seed = 1;
  int steps = 200;
  double late = 0.05;  ///< Of steps.
  Nanoseconds message{20'000};

  bool leaves_node(Rank rank, Rank offset) const {
    return (rank < of_first_node) != ((rank + offset + ranks) % ranks < of_first_node);
  }

  Timeline run() const {
    std::mt19937 random(seed);
    Timeline timeline;
    for (const int node : {0, 1}) {
      if (node == 0 || of_first_node < ranks) timeline.apply_roster(name(node), roster(node));
    }
    std::vector<Nanoseconds> begins(std::size_t(ranks), Nanoseconds{0});
    std::vector<std::vector<wire::Event>> events(begins.size());
    for (int step = 0; step < steps; ++step) begins = tell(begins, step, random, events);
    for (Rank rank = 0; rank < ranks; ++rank)
      timeline.append(name(rank >= of_first_node), {wire::LaneId::Kind::kRank, rank}, events[std::size_t(rank)]);
    for (const int node : {0, 1}) {
      timeline.set_clock(name(node), {{{{}, Nanoseconds{0}}}, Nanoseconds{node * 30'000}});
      timeline.advance(name(node), std::ranges::max(begins));
    }
    return timeline;
  }

 private:
  static std::string name(int node) { return node == 0 ? "n1" : "n2"; }

  wire::Roster roster(int node) const {
    wire::Roster roster;
    roster.world_size = ranks;
    roster.agent_pid = 100 + node;
    std::vector<Rank> from;
    for (const Rank target : targets) from.insert(from.begin(), -target);
    roster.patterns = {perhaps(from, targets)};
    roster.cycles = {{{{0}}}};
    for (Rank rank = node == 0 ? 0 : of_first_node; rank < (node == 0 ? of_first_node : ranks); ++rank)
      roster.ranks.push_back({rank, 1000 + rank, wire::kNoDomain, 1});
    return roster;
  }

  /// By the words of docs/scenario.md. When each has gone through it.
  std::vector<Nanoseconds> tell(const std::vector<Nanoseconds>& begins, int step, std::mt19937& random,
                                std::vector<std::vector<wire::Event>>& events) const {
    std::vector<Nanoseconds> posts, ends;
    for (const Nanoseconds begin : begins) {
      const bool is_late = std::uniform_real_distribution<>(0, 1)(random) < late;
      posts.push_back(begin + ms(1) + Nanoseconds(int(random() % 20'000)) + (is_late ? ms(1) : ms(0)));
    }
    for (Rank rank = 0; rank < ranks; ++rank) {
      const auto post_of = [&](Rank offset) { return posts[std::size_t((rank + offset + ranks) % ranks)]; };
      Nanoseconds end = posts[std::size_t(rank)];
      for (const Rank offset : targets) {
        end = std::max(end, post_of(-offset) + message);
        if (waits(rank, offset, step)) end = std::max(end, post_of(offset) + message);
      }
      ends.push_back(end);
      auto& its = events[std::size_t(rank)];
      if (step == 0) its.push_back({{}, 0, wire::EventKind::kStart, wire::Phase::kNone});
      its.push_back({begins[std::size_t(rank)], std::uint64_t(step), wire::EventKind::kStep,
                     step == 0 ? wire::Phase::kNone : wire::Phase::kWait});
      its.push_back({begins[std::size_t(rank)], 0, step == 0 ? wire::EventKind::kEnter : wire::EventKind::kSwitch,
                     wire::Phase::kCompute});
      its.push_back({posts[std::size_t(rank)], 0, wire::EventKind::kSwitch, wire::Phase::kWait});
    }
    return ends;
  }
};

/// Of some rank.
bool has_open_sends(const partners::SaidWaits& said) {
  for (Rank rank = 0; rank < said.timeline().ranks(); ++rank)
    for (const auto& step : said.by(rank)->cycle->steps)
      for (const std::uint32_t number : step)
        if (const wire::WaitPattern& pattern = said.by(rank)->patterns[number];
            pattern.uncertain && !pattern.rendezvous)
          return true;
  return false;
}

std::map<partners::SendKind, bool> told_of(const Exchange& exchange) {
  const Timeline timeline = exchange.run();
  return partners::with_sends_told(timeline).rules().wait;
}

TEST(SendWaits, AreToldOfEachOffset) {
  const unsigned seed = any_seed();
  for (unsigned i = 0; i < 10; ++i) {
    const bool near = i % 2, far = i / 2 % 2;
    const Exchange exchange{
        .targets = {1, 3}, .waits = [=](Rank, Rank offset, int) { return offset == 1 ? near : far; }, .seed = seed + i};
    EXPECT_EQ(told_of(exchange), (std::map<partners::SendKind, bool>{{{1, false}, near}, {{3, false}, far}}))
        << "seed " << seed + i;
  }
}

TEST(SendWaits, AreToldOfThoseWithinANodeAndOfThoseToOthers) {
  const unsigned seed = any_seed();
  for (unsigned i = 0; i < 10; ++i) {
    Exchange exchange{.of_first_node = 6, .targets = {1}, .seed = seed + i, .steps = 400};
    exchange.waits = [=](Rank rank, Rank offset, int) { return exchange.leaves_node(rank, offset) == bool(i % 2); };
    EXPECT_EQ(told_of(exchange),
              (std::map<partners::SendKind, bool>{{{1, false}, i % 2 == 0}, {{1, true}, i % 2 == 1}}))
        << "seed " << seed + i;
  }
}

/// As Open MPI's do over shared memory near the size from which on they do.
TEST(SendWaits, AreNotToldWhereSomeWaitAndSomeDoNot) {
  const unsigned seed = any_seed();
  for (unsigned i = 0; i < 10; ++i) {
    std::mt19937 dice(seed + i);
    const Exchange exchange{
        .targets = {1}, .waits = [&](Rank, Rank, int) { return dice() % 2 == 0; }, .seed = seed + i, .late = 0.2};
    EXPECT_THAT(told_of(exchange), testing::IsEmpty()) << "seed " << seed + i;
    const Timeline timeline = exchange.run();
    EXPECT_TRUE(has_open_sends(partners::with_sends_told(timeline))) << "seed " << seed + i;
  }
}

/// A message that takes longer than somebody is late looks as if its sender waited.
TEST(SendWaits, AreNotMistakenWhereMessagesTakeLongerThanMostAreLate) {
  const unsigned seed = any_seed();
  for (unsigned i = 0; i < 20; ++i) {
    const bool wait = i % 2 == 0;
    const Exchange exchange{
        .targets = {1}, .waits = [=](Rank, Rank, int) { return wait; }, .seed = seed + i, .message = ms(2)};
    const auto told = told_of(exchange);
    EXPECT_TRUE(told.empty() || told == (std::map<partners::SendKind, bool>{{{1, false}, wait}}))
        << "seed " << seed + i;
  }
}

/// By nothing but the noise: ranks whose sends do not wait drift apart by it, and so may some day be as far apart as tells it.
TEST(SendWaits, AreNotMistakenWhereNobodyIsLate) {
  const unsigned seed = any_seed();
  for (const bool wait : {true, false}) {
    const Exchange exchange{.targets = {1}, .waits = [=](Rank, Rank, int) { return wait; }, .seed = seed, .late = 0};
    const auto told = told_of(exchange);
    EXPECT_TRUE(told.empty() || (!wait && told == std::map<partners::SendKind, bool>{{{1, false}, false}}))
        << "seed " << seed << (wait ? ", they wait" : ", they do not");
  }
}

/// In a pipeline a rank receives before it works: whoever sends to it goes on long before it has done its part.
TEST(SendWaits, AreNotToldByRanksThatReceiveBeforeTheyWork) {
  constexpr Rank kRanks = 6;
  wire::Roster roster;
  roster.world_size = kRanks;
  roster.patterns = {test::receives({-1}), perhaps({}, {1})};
  roster.cycles = {{{{1}}}, {{{0, 1}}}, {{{0}}}};
  for (Rank rank = 0; rank < kRanks; ++rank)
    roster.ranks.push_back({rank, 1000 + rank, wire::kNoDomain, rank == 0 ? 1u : rank + 1 < kRanks ? 2u : 3u});
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n1", roster));
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  std::vector<Nanoseconds> sent(200, Nanoseconds{0});
  for (Rank rank = 0; rank < kRanks; ++rank) {
    std::vector<wire::Event> events{{{}, 0, wire::EventKind::kStart, wire::Phase::kNone}};
    Nanoseconds now{};
    for (std::size_t step = 0; step < sent.size(); ++step) {
      events.push_back({now, step, wire::EventKind::kStep, step == 0 ? wire::Phase::kNone : wire::Phase::kWait});
      events.push_back({now, 0, step == 0 ? wire::EventKind::kEnter : wire::EventKind::kSwitch, wire::Phase::kWait});
      now = std::max(now + Nanoseconds{2'000}, sent[step]);
      events.push_back({now, 0, wire::EventKind::kSwitch, wire::Phase::kCompute});
      now += ms(1) + Nanoseconds(int(random() % 400'000));
      events.push_back({now, 0, wire::EventKind::kSwitch, wire::Phase::kWait});
      now += Nanoseconds{5'000};
      sent[step] = now;
    }
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", sent.back());
  EXPECT_THAT(partners::with_sends_told(timeline).rules().wait, testing::IsEmpty()) << "seed " << seed;
}

TEST(SendWaits, AreToldByOneRankThatIsVeryLate) {
  const unsigned seed = any_seed();
  for (const bool wait : {true, false}) {
    test::RandomQuietScenarios random(seed);
    support::Scenario scenario = random.next(0, 1);
    scenario.communication.distances = {1};
    scenario.communication.protocol = wait ? support::Protocol::kRendezvous : support::Protocol::kEager;
    scenario.communication.time = {};
    scenario.delays = {{.rank = 2, .step = 3, .duration = ms(300)}};
    const test::SimulatedSession session(scenario, test::Says::kPartnersPerhaps);
    EXPECT_EQ(partners::with_sends_told(session.timeline()).rules().wait,
              (std::map<partners::SendKind, bool>{{{1, false}, wait}}))
        << "seed " << seed;
  }
}

support::Scenario any_exchange(test::RandomQuietScenarios& random) {
  static const std::vector<std::vector<Rank>> kDistances = {{1}, {-2}, {1, -1}, {1, -1, -2}, {2, 1}, {1, 3}};
  support::Scenario scenario = random.next(random.real(0, 0.1), 1);
  support::Communication& communication = scenario.communication;
  communication.distances = kDistances[std::size_t(random.whole(0, 5))];
  const bool is_split = random.whole(0, 1) || communication.distances == std::vector<Rank>{1, -1};
  communication.wait = is_split ? support::WaitFlavour::kSplit : support::WaitFlavour::kAll;
  for (int i = random.whole(0, 2); i > 0; --i)
    scenario.delays.push_back({.rank = random.whole(0, scenario.machine.ranks - 1),
                               .step = random.whole(1, int(scenario.program.steps) - 1),
                               .duration = Nanoseconds(std::int64_t(1e9 * random.real(0.02, 0.2)))});
  return scenario;
}

void expect_alike(const partners::RankPartners& found, const partners::RankPartners& truth,
                  const support::Scenario& scenario) {
  for (Rank rank = 0; rank < scenario.machine.ranks; ++rank)
    EXPECT_TRUE(std::ranges::equal(found.awaited(rank, 1), truth.awaited(rank, 1))) << "rank " << rank;
}

/// Whom all wait for as if the ranks had known it, where there is anything to tell it by; and never otherwise.
TEST(SendWaits, AreThoseOfTheScenario) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  int uncertain = 0, told = 0;
  for (int i = 0; i < 100; ++i) {
    const support::Scenario scenario = any_exchange(random);
    const bool wait = scenario.communication.protocol == support::Protocol::kRendezvous;
    const test::SimulatedSession session(scenario, test::Says::kPartnersPerhaps),
        known(scenario, test::Says::kPartners);
    const partners::SaidWaits said = partners::with_sends_told(session.timeline());
    for (const auto& [kind, waits] : said.rules().wait) EXPECT_EQ(waits, wait) << "scenario " << i;
    uncertain += said.has_uncertain();
    if (!said.has_uncertain() || has_open_sends(said)) continue;
    ++told;
    expect_alike(*partners::RankPartners::declared_in(said), *partners::RankPartners::declared_in(known.timeline()),
                 scenario);
  }
  std::printf("%d of %d told\n", told, uncertain);
  EXPECT_GT(uncertain, 80);
  EXPECT_GE(10 * told, 6 * uncertain);
}

/// As a screen has it found out, some work at a time.
TEST(SendWaits, AreTheSameHoweverTheWorkIsCut) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  int told = 0;
  for (int i = 0; i < 30; ++i) {
    const test::SimulatedSession session(any_exchange(random), test::Says::kPartnersPerhaps);
    const Timeline& timeline = session.timeline();
    const auto at_once = partners::with_sends_told(timeline).rules().wait;
    told += !at_once.empty();
    partners::SendSearch search(timeline);
    const bool is_searched = !search.is_done();
    const int piece = random.whole(1, 50'000);
    int pieces = 0;
    do ++pieces;
    while ([&] {
      LookBudget budget{std::uint64_t(piece)};
      return search.advance(budget);
    }());
    EXPECT_EQ(search.rules().wait, at_once) << "scenario " << i;
    // Whom ranks wait for is composed twice at least, and no more than once in a piece that does not cover it.
    const bool is_cut = piece < int(partners::RankPartners::kLooksToCompose) * timeline.ranks();
    EXPECT_TRUE(!is_searched || !is_cut || pieces > 2) << "scenario " << i << ", pieces of " << piece;
  }
  EXPECT_GT(told, 10);
}

TEST(SendWaits, AreKnownToWhoeverSearchesForPartnersSomeWorkAtATime) {
  test::RandomQuietScenarios random(any_seed());
  int heard = 0;
  for (int i = 0; i < 10; ++i) {
    const test::SimulatedSession session(any_exchange(random), test::Says::kPartnersPerhaps);
    const Nanoseconds step = steps::typical_step_length(session.timeline());
    partners::PartnerSearch whole(session.timeline(), {}, step), cut(session.timeline(), {}, step);
    LookBudget unlimited;
    EXPECT_FALSE(whole.advance(unlimited));
    for (bool goes_on = true; goes_on;) {
      LookBudget least(1);
      goes_on = cut.advance(least);
    }
    EXPECT_EQ(cut.found().source, whole.found().source);
    EXPECT_EQ(cut.found().offsets, whole.found().offsets);
    heard += whole.found().source == partners::PartnerSource::kDeclared;
  }
  EXPECT_GT(heard, 2);
}

/// Whom it receives from a rank says all the same.
TEST(SendWaits, ThatAreNotToldLeaveWhatIsReceivedDeclared) {
  test::RandomQuietScenarios random(1);
  support::Scenario scenario = random.next(0, 0.5);
  scenario.communication.distances = {1};
  scenario.communication.topology = support::Topology::kRing;
  const test::SimulatedSession perhaps(scenario, test::Says::kPartnersPerhaps);
  const Timeline& timeline = perhaps.timeline();
  ASSERT_TRUE(has_open_sends(partners::with_sends_told(timeline)));
  partners::PartnerSearch search(timeline, {}, steps::typical_step_length(timeline));
  LookBudget unlimited;
  search.advance(unlimited);
  const partners::Partners found = search.found();
  EXPECT_EQ(found.source, partners::PartnerSource::kDeclared);
  std::vector<Rank> awaited, open;
  found.for_each_awaited(3, 1, timeline.ranks(), [&](Rank other, Rank) { awaited.push_back(other); });
  found.for_each_perhaps(3, 1, timeline.ranks(), [&](Rank other, partners::WaitsFor) { open.push_back(other); });
  EXPECT_THAT(awaited, ElementsAre(2));
  EXPECT_THAT(open, ElementsAre(4));
}

}  // namespace
}  // namespace idlewave::analysis
