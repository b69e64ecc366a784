#include "monitor/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <climits>
#include <set>

#include "tests/any_seed.h"
#include "tests/sanitized.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

Event delay_begin(Nanoseconds at, std::uint64_t id) { return {at, id, EventKind::kDelayBegin, Phase::kDelay}; }
Event delay_end(Nanoseconds at, std::uint64_t id) { return {at, id, EventKind::kDelayEnd, Phase::kNone}; }
Event bandwidth(Nanoseconds at, std::uint64_t bytes) { return {at, bytes, EventKind::kBandwidth, Phase::kNone}; }

TEST(Timeline, IsEmptyAtFirst) {
  const Timeline timeline;
  EXPECT_TRUE(timeline.empty());
  EXPECT_EQ(timeline.now(), ms(0));
  EXPECT_FALSE(timeline.ended());
  EXPECT_EQ(timeline.lane(0), nullptr);
}

TEST(Timeline, BeginsAtTheFirstEvent) {
  const Timeline timeline = timeline_of({start(ms(7000)), enter(ms(7005), Phase::kWait)}, ms(7010));
  EXPECT_EQ(timeline.lane(0)->first(), ms(0));
  EXPECT_EQ(timeline.lane(0)->last(), ms(5));
  EXPECT_EQ(timeline.now(), ms(10));
}

/// A whole life, in a session that had begun `before` its first event.
Timeline begun_before(const std::vector<Event>& life, Nanoseconds before, std::uint64_t budget) {
  Timeline timeline(budget);
  timeline.apply_roster("n", roster(1));
  timeline.begin_at("n", life.front().time - before);
  timeline.append("n", rank_lane(0), life);
  timeline.append("n", domain_lane(0), std::vector{start(life.front().time + ms(1)), bandwidth(life.back().time, 5)});
  timeline.advance("n", life.back().time);
  return timeline;
}

TEST(Timeline, BearsAFirstEventThatComesLongAfterTheSessionBegan) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const std::vector<Event> life = random_life(random, 5000, ms(123), 1e6);
    // Whole buckets of the widest kind that such a life fills, so that the same ones are compared: an hour and more.
    const Nanoseconds late{std::int64_t(random() % 100 + 4) << 40};
    const std::uint64_t budget = round % 2 == 0 ? 64 << 20 : 200'000;
    const Timeline early = begun_before(life, ms(0), budget), shifted = begun_before(life, late, budget);
    EXPECT_EQ(shifted.begin(), late);
    EXPECT_EQ(shifted.now(), early.now() + late);
    EXPECT_EQ(shifted.bytes_used(), early.bytes_used()) << "time in which nobody listened takes no memory";
    const Lane &of_early = *early.lane(0), &of_shifted = *shifted.lane(0);
    EXPECT_EQ(of_shifted.events_from(), of_early.events_from() + late);
    EXPECT_EQ(of_shifted.steps().size(), of_early.steps().size());
    EXPECT_EQ(of_shifted.times(ms(0), late), Times{});
    EXPECT_EQ(of_shifted.times(ms(0), shifted.now()), of_early.times(ms(0), early.now()));
    const std::array<Timeline::RankRange, 1> row{{{0, 1}}};
    std::vector<Shares> one(100), other(100);
    early.picture(row, ms(0), early.now(), 100, one);
    shifted.picture(row, late, shifted.now(), 100, other);
    for (std::size_t i = 0; i < one.size(); ++i)
      for (std::size_t c = 0; c < kCategories; ++c) EXPECT_NEAR(one[i].of[c], other[i].of[c], 0.01f);
    shifted.picture(row, ms(0), late, 100, other);
    for (const Shares& shares : other) EXPECT_EQ(shares.known(), 0);
  }
}

TEST(Timeline, BeginsNowWhileNothingHasHappenedSinceSomebodyCameLate) {
  Timeline timeline;
  timeline.apply_roster("n", roster(1));
  timeline.begin_at("n", ms(100));
  EXPECT_TRUE(timeline.empty());
  EXPECT_EQ(timeline.begin(), ms(0));
  timeline.advance("n", ms(35'300));
  EXPECT_TRUE(timeline.empty());
  EXPECT_EQ(timeline.now(), ms(35'200));
  EXPECT_EQ(timeline.begin(), ms(35'200));
  timeline.append("n", rank_lane(0), std::vector{enter(ms(36'100), Phase::kWait)});
  EXPECT_EQ(timeline.begin(), ms(36'000));
}

TEST(Timeline, IsLiveUntilWhereItsSlowestNodeHasTold) {
  Timeline timeline;
  timeline.apply_roster("a", roster(0, 10, 20));
  timeline.apply_roster("b", roster(10, 20, 20));
  timeline.append("a", rank_lane(0), std::vector{start(ms(0))});
  timeline.advance("a", ms(50));
  timeline.advance("b", ms(30));
  EXPECT_EQ(timeline.now(), ms(30));
  timeline.mark_ended("b");
  EXPECT_EQ(timeline.now(), ms(50));
  timeline.mark_ended("a");
  EXPECT_TRUE(timeline.ended());
}

TEST(Timeline, DoesNotWaitForANodeThatFellSilent) {
  Timeline timeline;
  timeline.apply_roster("a", roster(0, 10, 20));
  timeline.apply_roster("b", roster(10, 20, 20));
  timeline.append("a", rank_lane(0), std::vector{start(ms(0))});
  timeline.advance("b", ms(30));
  timeline.advance("a", ms(2030));
  EXPECT_EQ(timeline.now(), ms(30));
  timeline.advance("a", ms(2031));
  EXPECT_EQ(timeline.now(), ms(2031));
  timeline.advance("b", ms(2029));
  EXPECT_EQ(timeline.now(), ms(2029));
}

TEST(Timeline, AppliesABetterClockOffsetToWhatIsThere) {
  Timeline timeline;
  timeline.apply_roster("a", roster(0, 10, 20));
  timeline.apply_roster("b", roster(10, 20, 20));
  timeline.append("a", rank_lane(0), std::vector{start(ms(100))});
  timeline.append("b", rank_lane(10),
                  std::vector{start(ms(1100)), step(ms(1110), 0, Phase::kCompute), delay_begin(ms(1120), 0)});
  timeline.advance("b", ms(1130));
  timeline.set_clock_offset("b", ms(1000));
  EXPECT_EQ(timeline.lane(10)->first(), ms(0));
  EXPECT_EQ(timeline.lane(10)->steps().front().begin, ms(10));
  EXPECT_EQ(timeline.delays().front().begin, ms(20));
  EXPECT_EQ(timeline.lane(10)->known_until(), ms(30));
}

TEST(Timeline, RefusesARosterThatContradictsItself) {
  Timeline timeline;
  wire::Roster outside = roster(4);
  outside.world_size = 3;
  wire::Roster twice = roster(4);
  twice.ranks[1].rank = 0;
  wire::Roster homeless = roster(4);
  homeless.ranks[2].domain = 99;
  wire::Roster renamed = roster(4);
  renamed.phases = {{Phase::kWait, Phase::kCompute, "wait"}};
  for (const wire::Roster& each : {outside, twice, homeless, renamed}) EXPECT_FALSE(timeline.apply_roster("n", each));
  EXPECT_EQ(timeline.ranks(), 0);
  EXPECT_TRUE(timeline.domains().empty());
}

TEST(Timeline, RefusesARosterWithARankOfAnotherNode) {
  Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("a", roster(4)));
  EXPECT_FALSE(timeline.apply_roster("b", roster(3, 8, 8)));
}

TEST(Timeline, KeepsLanesWhenARosterComesAgain) {
  Timeline timeline = timeline_of({start(ms(0)), enter(ms(1), Phase::kWait)}, ms(2), 4);
  EXPECT_TRUE(timeline.apply_roster("n", roster(8)));
  EXPECT_EQ(timeline.lane(0)->events(), 2u);
  EXPECT_NE(timeline.lane(7), nullptr);
  EXPECT_THAT(timeline.domains()[0].ranks, testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Timeline, NumbersTheDomainsOfAllNodes) {
  Timeline timeline;
  wire::Roster second = roster(0, 10, 20);
  for (wire::RankInfo& info : second.ranks) info.rank += 10;
  timeline.apply_roster("a", roster(0, 10, 20));
  timeline.apply_roster("b", second);
  EXPECT_EQ(timeline.domain_of(3), 0);
  EXPECT_EQ(timeline.domain_of(13), 1);
  EXPECT_EQ(timeline.domain_of(25), -1);
}

TEST(Timeline, KeepsBandwidthSamplesOfADomain) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(1), 20);
  timeline.append("n", domain_lane(1), std::vector{start(ms(100)), bandwidth(ms(300), 8000), bandwidth(ms(500), 9000)});
  ASSERT_EQ(timeline.samples(1).size(), 2u);
  EXPECT_EQ(timeline.samples(1)[1].begin, ms(300));
  EXPECT_EQ(timeline.samples(1)[1].end, ms(500));
  EXPECT_EQ(timeline.samples(1)[1].bytes, 9000u);
}

Event summed(Nanoseconds at, std::uint64_t phases, Phase phase) { return {at, phases, EventKind::kSummed, phase}; }

TEST(Sums, AreTimesLikeOthersAndCounted) {
  const Timeline timeline = timeline_of(
      {start(us(0)), enter(us(100), Phase::kCompute), summed(us(100), 700, Phase::kCompute),
       enter(us(300), Phase::kCommunicate), summed(us(350), 50, Phase::kWait), enter(us(360), Phase::kCompute),
       summed(us(400), 0, Phase::kWait), enter(us(900), Phase::kCompute), stop(us(1000))},
      us(1000));
  const Lane& lane = *timeline.lane(0);
  EXPECT_EQ(lane.time_in(Category::kCompute, us(0), us(1000)), us(200 + 40 + 100));
  EXPECT_EQ(lane.time_in(Category::kWait, us(0), us(1000)), us(50 + 10 + 500));
  EXPECT_EQ(lane.summed().phases, 750u);
  EXPECT_EQ(lane.summed().time, us(300));
  EXPECT_EQ(timeline.phases_summed(), 750u);
}

TEST(Sums, EndWhereSomethingElseIsTold) {
  const Timeline timeline = timeline_of(
      {start(us(0)), summed(us(100), 9, Phase::kCompute), stop(us(150)), start(us(500)), enter(us(900), Phase::kWait)},
      us(1000));
  EXPECT_EQ(timeline.lane(0)->summed().time, us(50));
}

TEST(Steps, ThatAreLeftOutWithinSumsCountWithTheOneBefore) {
  const Timeline timeline =
      timeline_of({start(us(0)), step(us(100), 3), enter(us(100), Phase::kCompute),
                   summed(us(100), 900, Phase::kCompute), summed(us(900), 0, Phase::kWait),
                   step(us(1000), 13, Phase::kWait), step(us(1200), 20, Phase::kWait), stop(us(1500))},
                  us(1500));
  const StepSums sums = timeline.lane(0)->sums_of_steps(us(0), us(2000));
  EXPECT_EQ(sums.steps, 10 + 1 + 1) << "numbers may also jump because the program counts so";
  EXPECT_EQ(Nanoseconds(sums.whole), us(1400));
  EXPECT_EQ(Nanoseconds(sums.compute), us(800));
}

TEST(Timeline, CountsAndPlacesWhatARankDropped) {
  const Timeline timeline =
      timeline_of({start(ms(0)), enter(ms(10), Phase::kWait), dropped(ms(30), 500, Phase::kWait)}, ms(40));
  ASSERT_EQ(timeline.losses().size(), 1u);
  EXPECT_EQ(timeline.losses()[0].kind, LossKind::kRingFull);
  EXPECT_EQ(timeline.losses()[0].from, ms(10));
  EXPECT_EQ(timeline.losses()[0].to, ms(30));
  EXPECT_EQ(timeline.dropped(), 500u);
}

TEST(Timeline, LeavesOutEventsWhoseTimeGoesBack) {
  Timeline timeline = timeline_of({start(ms(0)), enter(ms(50), Phase::kWait)}, ms(60));
  timeline.append("n", rank_lane(0), std::vector{enter(ms(40), Phase::kCompute), enter(ms(70), Phase::kCompute)});
  EXPECT_EQ(timeline.lane(0)->events(), 3u);
  EXPECT_EQ(timeline.losses().back().kind, LossKind::kTimeStep);
  EXPECT_EQ(timeline.losses().back().count, 1u);
}

TEST(Timeline, SurvivesTimesAtTheEndsOfTheirRange) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(1));
  timeline.append("n", rank_lane(0),
                  std::vector{enter(Nanoseconds::min(), Phase::kWait), enter(Nanoseconds::max(), Phase::kWait),
                              enter(Nanoseconds(std::int64_t{1} << 57), Phase::kCompute)});
  timeline.advance("n", Nanoseconds::max());
  EXPECT_EQ(timeline.dropped(), 2u);
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kOther, ms(0), ms(5)), ms(5));
}

/// Somewhere near an end of the range, near a moment that can be one, or near nothing.
Nanoseconds any_time(std::mt19937_64& random) {
  constexpr std::array<std::int64_t, 8> kNear = {INT64_MIN,
                                                 INT64_MAX,
                                                 0,
                                                 std::int64_t{1} << 58,
                                                 -(std::int64_t{1} << 58),
                                                 std::int64_t{1} << 57,
                                                 1'000'000'000,
                                                 std::int64_t{1} << 62};
  const std::int64_t near = kNear[random() % kNear.size()];
  const auto off = std::int64_t(random() % 2'000'000);
  return Nanoseconds(near > 0 ? near - off : near + off);
}

TEST(Timeline, SumsOfTimesOfAllSizesDoNotOverflow) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    Timeline timeline(4 << 20);
    timeline.apply_roster("a", roster(0, 10, 20));
    timeline.apply_roster("b", roster(10, 20, 20));
    for (int i = 0; i < 30; ++i) {
      const std::string node = random() % 2 == 0 ? "a" : "b";
      const auto rank = Rank(random() % 20);
      const auto kind = EventKind(random() % 16);
      timeline.append(node, rank_lane(rank), std::vector{Event{any_time(random), random() % 5, kind, Phase::kCompute}});
      timeline.append(node, domain_lane(rank / 10), std::vector{bandwidth(any_time(random), 1)});
      timeline.advance(node, any_time(random));
      if (random() % 4 == 0) timeline.interrupt(node, any_time(random));
      if (random() % 8 == 0) timeline.set_clock_offset(node, any_time(random));
    }
    constexpr Nanoseconds kQuarter{std::int64_t{1} << 62};  // Of the range: two such times are less than 2^63 apart.
    for (const Nanoseconds time : {timeline.now(), timeline.begin()})
      EXPECT_TRUE(-kQuarter < time && time < kQuarter) << "seed " << seed;
    const Nanoseconds length = std::max(timeline.now() - timeline.begin(), Nanoseconds{});
    for (Rank rank = 0; rank < 20; ++rank) {
      const Nanoseconds computes = timeline.lane(rank)->time_in(Category::kCompute, timeline.begin(), timeline.now());
      EXPECT_LE(computes, length) << "seed " << seed << ", rank " << rank;
    }
    std::vector<Shares> screen(20 * 40);
    const std::array<Timeline::RankRange, 1> rows{{{0, 20}}};
    timeline.picture(rows, timeline.begin(), timeline.now(), 40, screen);
  }
}

TEST(Timeline, CountsWhatStrangersDeclareAgainstItsBudget) {
  constexpr std::uint64_t kBudget = 64 << 20;
  Timeline timeline(kBudget);
  wire::Roster many;
  for (wire::DomainId id = 0; id < 100'000; ++id)
    many.domains.push_back({id, "", 0, 0, wire::BandwidthSource::kNone, ""});
  int taken = 0;
  for (int node = 0; node < 20; ++node) taken += timeline.apply_roster("n" + std::to_string(node), many);
  EXPECT_LT(taken, 20);
  EXPECT_LE(timeline.bytes_used(), kBudget / 8);
  wire::Roster crowd = roster(0, 0, wire::kMaxRanks);
  for (Rank rank = 0; rank < wire::kMaxRanks; ++rank) crowd.ranks.push_back({rank, 1, wire::kNoDomain});
  EXPECT_FALSE(timeline.apply_roster("crowd", crowd));
  EXPECT_LE(timeline.bytes_used(), kBudget / 8);
}

wire::Roster with_partners(wire::Roster roster, std::uint32_t cycle) {
  roster.patterns = {{.rendezvous = false, .collective = false, .from = {1}, .to = {}}};
  roster.cycles = {{{{0}}}, {{{}, {0}}}};
  for (wire::RankInfo& info : roster.ranks) info.cycle = cycle;
  return roster;
}

Event partners(Nanoseconds at, std::uint64_t cycle) { return {at, cycle, EventKind::kPartners, Phase::kNone}; }

TEST(Timeline, KnowsWhomARankWaitsForAsItSaidLast) {
  Timeline timeline;
  EXPECT_FALSE(timeline.declared_waits(0));
  timeline.apply_roster("n", with_partners(roster(2), 0));
  EXPECT_FALSE(timeline.declared_waits(0));
  timeline.append("n", rank_lane(0), std::vector{start(ms(0)), partners(ms(5), 1), partners(ms(6), 2)});
  ASSERT_TRUE(timeline.declared_waits(0));
  EXPECT_EQ(timeline.declared_waits(0)->cycle->steps.size(), 2u);
  EXPECT_FALSE(timeline.declared_waits(1));
  timeline.append("n", rank_lane(0), std::vector{partners(ms(7), 0)});
  EXPECT_FALSE(timeline.declared_waits(0));
}

/// Follows cycle `number` where there are so many, each of so many steps as is its number, and of other partners.
wire::Roster with_cycles(std::uint32_t cycles, std::uint32_t number) {
  wire::Roster made = roster(1);
  for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
    made.patterns.push_back({false, false, {Rank(cycle)}, {}});
    made.cycles.push_back({std::vector<std::vector<std::uint32_t>>(cycle, {cycle - 1})});
  }
  made.ranks[0].cycle = number;
  return made;
}

std::size_t cycle_in(const Timeline& timeline, wire::Step step) {
  const auto waits = timeline.declared_waits(0, step);
  return waits ? waits->cycle->steps.size() : 0;
}

/// What it said last up to a step; before it said anything, what it said first. By a list of what it said.
struct Said {
  std::map<wire::Step, std::uint32_t> cycles;

  std::uint32_t in(wire::Step step) const {
    if (cycles.empty()) return 0;
    const auto next = cycles.upper_bound(step);
    return next == cycles.begin() ? next->second : std::prev(next)->second;
  }
};

/// Rosters say the same, now and then, and sometimes before the rank's own word has come.
TEST(Timeline, KnowsWhomARankWaitedForInEachStep) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    constexpr int kSteps = 80, kCycles = 5;
    Timeline timeline;
    Said said;
    std::uint32_t now = 0;
    timeline.apply_roster("n", with_cycles(kCycles, 0));
    timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
    for (int number = 0; number < kSteps; ++number) {
      timeline.append("n", rank_lane(0), std::vector{step(ms(10 * number), std::uint64_t(number))});
      if (random() % 20 == 0) timeline.apply_roster("n", with_cycles(kCycles, now));
      if (random() % 6 != 0 || said.cycles.size() > 16) continue;
      const auto next = std::uint32_t(random() % (kCycles + 1));
      if (next == now) continue;
      if (random() % 2 == 0) timeline.apply_roster("n", with_cycles(kCycles, next));
      timeline.append("n", rank_lane(0), std::vector{partners(ms(10 * number + 9), next)});
      said.cycles[number] = now = next;
    }
    for (wire::Step number = 0; number < kSteps; ++number)
      ASSERT_EQ(cycle_in(timeline, number), said.in(number)) << number;
  }
}

/// As a rank tells a cycle of steps that it has not been through twice: each by itself, then the cycle.
TEST(Timeline, TakesACycleForWhatWasToldOfItsStepsOneByOne) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const auto length = std::uint32_t(2 + random() % 6);
    const bool changes = random() % 2 == 0;
    wire::Roster made = roster(1);
    wire::WaitCycle whole;
    for (std::uint32_t number = 0; number <= length; ++number) {
      made.patterns.push_back({false, false, {Rank(number + 1)}, {}});
      made.cycles.push_back({{{number}}});  // cycle number + 1: that step alone
      if (number < length) whole.steps.push_back({number});
    }
    made.cycles.push_back(whole);
    Timeline timeline;
    timeline.apply_roster("n", made);
    timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
    const int first = int(random() % 50), turn = first + 10, cycle_at = turn + int(length) + int(random() % length);
    const auto tell = [&](int number, std::uint64_t cycle) {
      timeline.append("n", rank_lane(0),
                      std::vector{step(ms(10 * number), std::uint64_t(number)), partners(ms(10 * number + 9), cycle)});
    };
    if (changes) tell(first, length + 1);  // another step, again and again
    for (int number = turn; number < cycle_at; ++number) tell(number, std::uint64_t(number) % length + 1);
    tell(cycle_at, length + 2);
    const auto steps_in = [&](int number) { return timeline.declared_waits(0, number)->cycle->steps.size(); };
    for (const int number : {turn, cycle_at - 1, cycle_at}) EXPECT_EQ(steps_in(number), length) << number;
    EXPECT_EQ(steps_in(turn - 1), changes ? 1u : length);
    EXPECT_EQ(timeline.partner_changes(), changes ? std::vector<wire::Step>{turn} : std::vector<wire::Step>{});
  }
}

TEST(Timeline, KnowsOfTheStepsBeforeNothingWhereAnAgentOrAProgramBeganAnew) {
  for (const bool by_program : {false, true}) {
    Timeline timeline;
    timeline.apply_roster("n", with_cycles(3, 1));
    timeline.append("n", rank_lane(0), std::vector{start(ms(0)), step(ms(1), 5), partners(ms(2), 2)});
    ASSERT_EQ(cycle_in(timeline, 0), 1u);
    ASSERT_THAT(timeline.partner_changes(), testing::ElementsAre(5));
    if (by_program) timeline.mark_ended("n");
    wire::Roster anew = with_cycles(3, 3);
    if (!by_program) anew.cycles.erase(anew.cycles.begin());
    timeline.apply_roster("n", anew);
    EXPECT_EQ(cycle_in(timeline, 0), by_program ? 3u : 0u);
    EXPECT_THAT(timeline.partner_changes(), testing::IsEmpty());
  }
}

TEST(Timeline, KeepsTheLatestChangesOfWhomRanksWaitForWithinItsBudget) {
  constexpr std::uint64_t kBudget = 4 << 20;
  Timeline timeline(kBudget);
  wire::Roster many = roster(4000);
  for (wire::RankInfo& info : many.ranks) info.cycle = 1;
  many.cycles = with_cycles(2, 1).cycles;
  timeline.apply_roster("n", many);
  const std::uint64_t before = timeline.bytes_used();
  for (Rank rank = 0; rank < 800; ++rank)
    for (int number = 0; number < 40; ++number)
      timeline.append("n", rank_lane(rank),
                      std::vector{step(ms(number), std::uint64_t(number)), partners(ms(number), 1 + (number + 1) % 2)});
  EXPECT_EQ(cycle_in(timeline, 39), 1u);
  EXPECT_EQ(cycle_in(timeline, 38), 2u);
  EXPECT_THAT(timeline.partner_changes(), testing::Contains(39));
  EXPECT_THAT(timeline.partner_changes(), testing::SizeIs(testing::Le(16u)));
  for (Rank rank = 0; rank < 800; ++rank) EXPECT_TRUE(timeline.declared_waits(rank, 39));
  EXPECT_LT(timeline.bytes_used(), kBudget);
  EXPECT_GT(timeline.bytes_used(), before);
}

TEST(Timeline, KnowsWhomARankWaitsForFromARosterThatCameLate) {
  Timeline timeline;
  timeline.apply_roster("n", with_partners(roster(2), 1));
  ASSERT_TRUE(timeline.declared_waits(1));
  EXPECT_EQ(timeline.declared_waits(1)->patterns.size(), 1u);
}

TEST(Timeline, DoesNotBelieveACycleThatNobodyDefined) {
  Timeline timeline;
  timeline.apply_roster("n", with_partners(roster(2), 2));
  for (const std::uint64_t number : {std::uint64_t{3}, std::uint64_t{1} << 32, wire::kMaxEventValue}) {
    timeline.append("n", rank_lane(0), std::vector{partners(ms(5), number)});
    EXPECT_FALSE(timeline.declared_waits(0)) << number;
  }
  timeline.append("n", rank_lane(0), std::vector{partners(ms(6), 2)});
  ASSERT_TRUE(timeline.declared_waits(0));
  wire::Roster fewer = with_partners(roster(1, 2, 2), 0);
  fewer.cycles.clear();
  ASSERT_TRUE(timeline.apply_roster("n", fewer));
  EXPECT_FALSE(timeline.declared_waits(0));
}

TEST(Timeline, CountsPatternsAgainstItsBudget) {
  Timeline timeline(1 << 20);
  wire::Roster greedy = with_partners(roster(2), 1);
  const std::uint64_t before = timeline.bytes_used();
  ASSERT_TRUE(timeline.apply_roster("n", greedy));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(timeline.apply_roster("n", greedy));
  EXPECT_LT(timeline.bytes_used(), before + 10'000) << "a roster that comes again takes no more";
  greedy.patterns[0].from.assign(100'000, 1);
  EXPECT_FALSE(timeline.has_room_for("n", greedy));
  EXPECT_FALSE(timeline.apply_roster("n", greedy));
  EXPECT_EQ(timeline.declared_waits(0)->patterns[0].from.size(), 1u);
}

TEST(Timeline, CountsRanksThatAreOnlySaidToBeThereAgainstItsBudget) {
  Timeline timeline(64 << 20);
  ASSERT_TRUE(timeline.apply_roster("a", roster(0, 1, 100'000)));
  const wire::Roster vast = roster(1, 2, wire::kMaxRanks);
  EXPECT_FALSE(timeline.has_room_for("b", vast));
  EXPECT_FALSE(timeline.apply_roster("b", vast));
  EXPECT_EQ(timeline.ranks(), 100'000);
}

TEST(Timeline, LetsARankMoveToAnotherNodeOnceItsOwnHasEnded) {
  Timeline timeline;
  timeline.apply_roster("a", roster(4));
  timeline.append("a", rank_lane(3), std::vector{start(ms(0)), enter(ms(1), Phase::kCompute), stop(ms(5))});
  wire::Roster of_next = roster(2, 6, 6);
  EXPECT_FALSE(timeline.apply_roster("b", of_next));
  timeline.mark_ended("a");
  ASSERT_TRUE(timeline.apply_roster("b", of_next));
  timeline.append("b", rank_lane(3), std::vector{start(ms(8)), enter(ms(9), Phase::kCompute), stop(ms(19))});
  EXPECT_EQ(timeline.lane(3)->time_in(Category::kCompute, ms(0), ms(20)), ms(14));
  EXPECT_THAT(timeline.domains()[0].ranks, testing::ElementsAre(0, 1));
  EXPECT_THAT(timeline.domains()[1].ranks, testing::ElementsAre(2, 3, 4, 5));
}

TEST(Timeline, TellsHowFarEachNodeHasTold) {
  Timeline timeline = timeline_of({start(ms(100))}, ms(107), 4);
  timeline.apply_roster("watcher", wire::Roster{});
  timeline.mark_ended("n");
  const auto nodes = timeline.nodes();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].name, "n");
  EXPECT_EQ(nodes[0].ranks, 4u);
  EXPECT_TRUE(nodes[0].ended);
  EXPECT_EQ(nodes[0].told_until, ms(7));
  EXPECT_FALSE(nodes[1].ended || nodes[1].told);
}

TEST(Timeline, CountsTheHolesThatItHasForgotten) {
  Timeline timeline;
  timeline.add_loss({LossKind::kRingFull, "n", 0, ms(0), ms(0), 1, {}});
  for (int i = 0; i < 20'000; ++i) timeline.add_loss({LossKind::kRankLost, "n", i, ms(i), ms(i), 1, {}});
  EXPECT_EQ(timeline.holes_forgotten(), 1u);
}

TEST(Loss, HasANameOfItsOwnForEveryKind) {
  std::set<std::string_view> names;
  for (int kind = 0; kind < kLossKinds; ++kind) names.insert(name_of(LossKind(kind)));
  EXPECT_EQ(names.size(), std::size_t(kLossKinds));
  EXPECT_FALSE(names.contains(""));
}

TEST(Timeline, CountsEventsOfRanksThatWereNeverAnnounced) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(1), 2);
  for (const Rank rank : {-1, 2, 4'000'000})
    timeline.append("n", rank_lane(rank), std::vector{start(ms(5)), stop(ms(6))});
  timeline.append("nobody", rank_lane(0), std::vector{start(ms(5))});
  timeline.append("n", domain_lane(77), std::vector{bandwidth(ms(5), 1)});
  EXPECT_EQ(timeline.dropped(), 8u);
  for (const Loss& loss : timeline.losses()) EXPECT_EQ(loss.kind, LossKind::kStranger);
}

TEST(Timeline, LeavesOutRanksThatItHasNoRoomFor) {
  constexpr Rank kRoom = 20, kRanks = 50;
  Timeline timeline(kRoom * Lane::kLeastBytes);
  ASSERT_TRUE(timeline.apply_roster("n", roster(kRanks)));
  for (const int second : {0, 1})
    for (Rank rank = 0; rank < kRanks; ++rank)
      timeline.append("n", rank_lane(rank), std::vector{second == 0 ? start(ms(rank)) : stop(ms(1000 + rank))});
  timeline.advance("n", ms(2000));
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(timeline.lane(rank)->events(), rank < kRoom ? 2u : 0u);
    EXPECT_EQ(timeline.lane(rank)->is_left_out(), rank >= kRoom);
  }
  EXPECT_EQ(timeline.reporting("n"), kRanks) << "none of them is silent";
  EXPECT_EQ(timeline.dropped(), 60u);
  ASSERT_EQ(timeline.losses().size(), 1u);
  const Loss& loss = timeline.losses().front();
  EXPECT_EQ(loss.kind, LossKind::kNoRoom);
  EXPECT_EQ(loss.count, 60u);
  EXPECT_EQ(loss.detail, "20");
}

TEST(Timeline, CountsTheRanksOfAnUnknownNodeAsOneStranger) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(1), 2);
  for (Rank rank = 0; rank < 20'000; ++rank) timeline.append("nobody", rank_lane(rank), std::vector{start(ms(5))});
  EXPECT_EQ(timeline.losses().size(), 1u);
  EXPECT_EQ(timeline.dropped(), 20'000u);
}

TEST(Timeline, TellsOfADelayWhenItsRankTells) {
  const Timeline timeline =
      timeline_of({start(ms(0)), step(ms(5), 3), delay_begin(ms(5), 0), delay_end(ms(25), 0)}, ms(30));
  ASSERT_EQ(timeline.delays().size(), 1u);
  EXPECT_EQ(timeline.delays()[0].step, 3);
  EXPECT_EQ(timeline.delays()[0].begin, ms(5));
  EXPECT_EQ(timeline.delays()[0].end, ms(25));
  EXPECT_TRUE(timeline.delays()[0].ended);
}

TEST(Timeline, FollowsACommandFromSendingToItsEnd) {
  Timeline timeline = timeline_of({start(ms(0)), step(ms(1), 0)}, ms(2));
  const wire::Command command{42, {0}, wire::DelayOrder{ms(20)}};
  timeline.add_command(command, ms(2));
  EXPECT_FALSE(timeline.commands().back().answered);
  timeline.add_outcome("n", {command, ms(3), true, ""});
  EXPECT_TRUE(timeline.commands().back().accepted);
  timeline.append("n", rank_lane(0), std::vector{step(ms(5), 1), delay_begin(ms(5), 42)});
  EXPECT_TRUE(timeline.commands().back().in_effect);
  EXPECT_FALSE(timeline.commands().back().over);
  timeline.append("n", rank_lane(0), std::vector{delay_end(ms(25), 42)});
  ASSERT_EQ(timeline.commands().size(), 1u);
  EXPECT_EQ(timeline.commands()[0].sent, ms(2));
  EXPECT_EQ(timeline.commands()[0].began(), ms(5));
  EXPECT_EQ(timeline.commands()[0].ended(), ms(25));
  EXPECT_TRUE(timeline.commands()[0].over);
}

TEST(Timeline, KeepsWhyACommandWasRefused) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(2));
  timeline.add_outcome("n", {{7, {99}, wire::DelayOrder{ms(1)}}, ms(1), false, "no rank 99"});
  EXPECT_FALSE(timeline.commands()[0].accepted);
  EXPECT_EQ(timeline.commands()[0].reason, "no rank 99");
}

TEST(Timeline, EndsNoiseWhenItIsCleared) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(2));
  timeline.add_outcome("n", {{7, {}, wire::NoiseOrder{}}, ms(1), true, ""});
  timeline.add_outcome("n", {{8, {}, wire::ClearOrder{}}, ms(9), true, ""});
  EXPECT_TRUE(timeline.commands()[0].over);
  EXPECT_EQ(timeline.commands()[0].ended(), ms(9));
}

TEST(Timeline, EndsNothingByAnOrderThatItDoesNotKnow) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(2));
  timeline.add_outcome("n", {{7, {}, wire::NoiseOrder{}}, ms(1), true, ""});
  timeline.add_outcome("n", {{8, {}, wire::UnknownOrder{"pause"}}, ms(9), true, ""});
  EXPECT_FALSE(timeline.commands()[0].over);
  EXPECT_TRUE(timeline.commands()[1].accepted);
}

TEST(Timeline, MakesARunOfLossesOneEntry) {
  Timeline timeline;
  for (int i = 0; i < 1'000'000; ++i) timeline.add_loss({LossKind::kBadFrame, "n", -1, ms(i), ms(i), 1, "not msgpack"});
  ASSERT_EQ(timeline.losses().size(), 1u);
  EXPECT_EQ(timeline.losses()[0].count, 1'000'000u);
  EXPECT_EQ(timeline.losses()[0].to, ms(999'999));
}

TEST(Timeline, NeedsLittleForRanksThatNeverSpeak) {
  Timeline timeline;
  wire::Roster many;
  many.world_size = 1'000'000;
  for (Rank rank = 0; rank < many.world_size; ++rank) many.ranks.push_back({rank, 1, wire::kNoDomain});
  ASSERT_TRUE(timeline.apply_roster("n", many));
  EXPECT_LT(timeline.bytes_used(), 200u * 1'000'000);
}

TEST(Timeline, AllocatesNothingForRanksThatAreNotAnnounced) {
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n", roster(0, 4, wire::kMaxRanks)));
  EXPECT_EQ(timeline.ranks(), wire::kMaxRanks);
  EXPECT_LT(timeline.bytes_used(), 10'000u);
}

/// Long lives of many ranks, told a second at a time, all in turn.
void tell(Timeline& timeline, Rank ranks, int rounds) {
  std::vector<Event> events;
  for (int round = 0; round < rounds; ++round) {
    events.clear();
    for (int i = 0; i < 200; ++i)
      events.push_back(i % 10 == 0 ? step(ms(round * 1000 + i * 5), std::uint64_t(round * 20 + i / 10))
                                   : enter(ms(round * 1000 + i * 5), i % 2 ? Phase::kCompute : Phase::kWait));
    for (Rank rank = 0; rank < ranks; ++rank) timeline.append("n", rank_lane(rank), events);
    timeline.advance("n", ms((round + 1) * 1000));
  }
}

TEST(Timeline, StaysWithinItsBudgetAndIsHonestAboutIt) {
  for (const Rank ranks : {4, 400}) {
    malloc_trim(0);
    const std::size_t before = mallinfo2().uordblks;
    constexpr std::uint64_t kBudget = 24 << 20;
    Timeline timeline(kBudget);
    timeline.apply_roster("n", roster(ranks));
    tell(timeline, ranks, 4'000'000 / 200 / ranks);
    const auto grown = double(mallinfo2().uordblks - before);
    EXPECT_LE(timeline.bytes_used(), kBudget) << ranks << " ranks";
    if (tests::kSanitized) continue;  // its allocator does not say how much is in use
    EXPECT_GT(double(timeline.bytes_used()), 0.6 * grown) << ranks << " ranks";
    EXPECT_LT(double(timeline.bytes_used()), 1.4 * grown) << ranks << " ranks";
  }
}

TEST(Timeline, ForgetsTheOldestEventsOfAllRanksFirst) {
  Timeline timeline(8 << 20);
  timeline.apply_roster("n", roster(20));
  tell(timeline, 20, 400);
  Nanoseconds oldest = Nanoseconds::max();
  Nanoseconds youngest = Nanoseconds::min();
  for (Rank rank = 0; rank < 20; ++rank) {
    oldest = std::min(oldest, timeline.lane(rank)->events_from());
    youngest = std::max(youngest, timeline.lane(rank)->events_from());
  }
  EXPECT_GT(oldest, ms(1000));
  EXPECT_LE(youngest - oldest, ms(2000));
}

TEST(Timeline, KeepsWhatItForgotInCoarserBuckets) {
  Timeline timeline(8 << 20);
  timeline.apply_roster("n", roster(20));
  tell(timeline, 20, 400);
  const double compute = double(timeline.lane(5)->time_in(Category::kCompute, ms(0), ms(100'000)).count());
  EXPECT_NEAR(compute / double(ms(100'000).count()), 0.5, 0.01);
}

}  // namespace
}  // namespace idlewave::timeline
