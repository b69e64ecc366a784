#include "monitor/timeline/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <climits>
#include <set>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

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
  EXPECT_EQ(timeline.samples(1)[1].amount, 9000u);
}

TEST(Timeline, KnowsAMeterThatIsToldAnewInAnotherPlace) {
  wire::Roster announced = roster(20);
  const wire::MeterInfo power{1, "package power", "W", "RAPL"}, cpi{1, "CPI", "", "LIKWID FLOPS_DP"};
  announced.meters = {power, cpi};
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n", announced));
  timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
  timeline.append_meter("n", 0, std::vector{start(ms(100)), bandwidth(ms(300), 8)});
  timeline.interrupt("n", ms(350));
  announced.meters = {cpi, power};
  ASSERT_TRUE(timeline.apply_roster("n", announced));
  timeline.append_meter("n", 1, std::vector{bandwidth(ms(400), 1), bandwidth(ms(500), 9)});
  ASSERT_EQ(timeline.meters().size(), 2u);
  EXPECT_EQ(timeline.meters()[0].info, power);
  EXPECT_EQ(timeline.meters()[0].domain, 1);
  ASSERT_EQ(timeline.meter_samples(0).size(), 2u) << "what nobody saw is none";
  EXPECT_EQ(timeline.meter_samples(0)[1].begin, ms(400));
  EXPECT_EQ(timeline.meter_samples(0)[1].amount, 9u);
  EXPECT_TRUE(timeline.meter_samples(1).empty());
}

TEST(Timeline, KeepsTheLatestSamplesOfAMeterWithinItsBudget) {
  wire::Roster announced = roster(1);
  announced.meters = {{0, "CPI", "", "LIKWID FLOPS_DP"}};
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n", announced));
  std::vector<Event> events{start(ms(0))};
  for (int i = 1; i <= 300'000; ++i) events.push_back(bandwidth(ms(i), std::uint64_t(i)));
  timeline.append_meter("n", 0, events);
  const auto samples = timeline.meter_samples(0);
  EXPECT_THAT(samples.size(), testing::AllOf(testing::Ge(1u << 17), testing::Le(1u << 18)));
  EXPECT_EQ(samples.back().amount, 300'000u);
  EXPECT_EQ(samples.front().end, samples[1].begin);
  EXPECT_EQ(timeline.meter_ever(0).amount, 300'000ull * 300'001 / 2) << "also what is not kept";
  EXPECT_EQ(timeline.meter_ever(0).covered, ms(300'000));
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

TEST(Timeline, CountsTheRanksOfAnUnknownNodeAsOneStranger) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(1), 2);
  for (Rank rank = 0; rank < 20'000; ++rank) timeline.append("nobody", rank_lane(rank), std::vector{start(ms(5))});
  EXPECT_EQ(timeline.losses().size(), 1u);
  EXPECT_EQ(timeline.dropped(), 20'000u);
}

TEST(Timeline, MakesARunOfLossesOneEntry) {
  Timeline timeline;
  for (int i = 0; i < 1'000'000; ++i) timeline.add_loss({LossKind::kBadFrame, "n", -1, ms(i), ms(i), 1, "not msgpack"});
  ASSERT_EQ(timeline.losses().size(), 1u);
  EXPECT_EQ(timeline.losses()[0].count, 1'000'000u);
  EXPECT_EQ(timeline.losses()[0].to, ms(999'999));
}

}  // namespace
}  // namespace idlewave::timeline
