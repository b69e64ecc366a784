#include "monitor/timeline/lane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

TEST(Lane, ShowsAPhaseThatBeganBeforeTheWindow) {
  const Timeline timeline =
      timeline_of({start(ms(0)), enter(ms(10), Phase::kWait), enter(ms(90), Phase::kCompute)}, ms(99));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kWait, ms(50), ms(70)), ms(20));
}

TEST(Lane, KnowsThatTheLastPhaseLastsUntilItsNodeHasToldEverything) {
  const Timeline timeline = timeline_of({start(ms(0)), enter(ms(10), Phase::kWait)}, ms(40));
  EXPECT_EQ(timeline.lane(0)->known_until(), ms(40));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kWait, ms(0), ms(100)), ms(30));
}

TEST(Lane, CountsOnlyTheTimeBetweenStartAndStop) {
  const Timeline timeline = timeline_of({start(ms(0)), enter(ms(10), Phase::kCompute), stop(ms(30)), start(ms(500)),
                                         enter(ms(510), Phase::kWait), stop(ms(540))},
                                        ms(900));
  const Times times = timeline.lane(0)->times(ms(0), ms(900));
  EXPECT_EQ(times[std::size_t(Category::kCompute)], ms(20).count());
  EXPECT_EQ(times[std::size_t(Category::kWait)], ms(30).count());
  EXPECT_EQ(std::accumulate(times.begin(), times.end(), std::int64_t{0}), ms(70).count());
}

TEST(Lane, FindsAStepInTheProgramThatRanAtATime) {
  std::vector<Event> events;
  for (int program = 0; program < 3; ++program) {
    events.push_back(start(ms(program * 1000)));
    for (int i = 0; i < 20; ++i) events.push_back(step(ms(program * 1000 + i * 10), std::uint64_t(i * (program + 1))));
    events.push_back(stop(ms(program * 1000 + 200)));
  }
  const Timeline timeline = timeline_of(events, ms(4000));
  const Lane& lane = *timeline.lane(0);
  const auto begin_of = [&](wire::Step k, Nanoseconds at) {
    return lane.step(k, at) ? lane.step(k, at)->begin : ms(-1);
  };
  EXPECT_EQ(begin_of(6, ms(50)), ms(60));
  EXPECT_EQ(begin_of(6, ms(1050)), ms(1030));
  EXPECT_EQ(begin_of(6, ms(9000)), ms(2020));
  EXPECT_EQ(begin_of(7, ms(2000)), ms(-1));
  EXPECT_EQ(lane.step(6)->begin, lane.step(6, ms(9000))->begin);
  EXPECT_EQ(lane.step(7)->begin, ms(70));
}

TEST(Lane, HasNoDataBeforeItsFirstEvent) {
  Timeline timeline;
  timeline.apply_roster("n", roster(2));
  timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
  timeline.append("n", rank_lane(1), std::vector{start(ms(500)), enter(ms(500), Phase::kCompute)});
  timeline.advance("n", ms(1000));
  std::array<Shares, 2> halves;
  timeline.lane(1)->shares(ms(0), ms(1000), halves);
  EXPECT_FLOAT_EQ(halves[0].known(), 0);
  EXPECT_FLOAT_EQ(halves[1][Category::kCompute], 1);
}

TEST(Lane, HasNoDataBetweenTheEventBeforeADropAndTheDrop) {
  const Timeline timeline = timeline_of(
      {start(ms(0)), enter(ms(10), Phase::kCompute), dropped(ms(50), 7, Phase::kWait), enter(ms(60), Phase::kCompute)},
      ms(70));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kCompute, ms(0), ms(70)), ms(10));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kWait, ms(0), ms(70)), ms(10));
}

TEST(Lane, HasNoDataAfterItStopped) {
  const Timeline timeline = timeline_of({start(ms(0)), enter(ms(0), Phase::kCompute), stop(ms(30))}, ms(90));
  EXPECT_EQ(timeline.lane(0)->state(), LaneState::kStopped);
  EXPECT_EQ(timeline.lane(0)->known_until(), ms(30));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kOther, ms(30), ms(90)), ms(0));
}

TEST(Lane, ThatWasLostDiffersFromOneThatIsSilentAndOneThatIsIdle) {
  Timeline timeline;
  timeline.apply_roster("n", roster(4));
  timeline.append("n", rank_lane(0), std::vector{start(ms(0)), lost(ms(20))});
  timeline.append("n", rank_lane(1), std::vector{start(ms(0)), enter(ms(10), Phase::kWait)});
  timeline.append("n", rank_lane(2), std::vector{start(ms(0))});
  timeline.advance("n", ms(100));
  EXPECT_EQ(timeline.lane(0)->state(), LaneState::kLost);
  EXPECT_EQ(timeline.lane(0)->known_until(), ms(20));
  EXPECT_EQ(timeline.lane(1)->state(), LaneState::kLive);
  EXPECT_EQ(timeline.lane(1)->time_in(Category::kWait, ms(0), ms(100)), ms(90));
  EXPECT_EQ(timeline.lane(2)->time_in(Category::kOther, ms(0), ms(100)), ms(100));
  EXPECT_EQ(timeline.lane(3)->state(), LaneState::kAnnounced);
}

TEST(Lane, GoesOnWhenItsRankStartsAgain) {
  const Timeline timeline = timeline_of(
      {start(ms(0)), enter(ms(0), Phase::kCompute), stop(ms(30)), start(ms(60)), enter(ms(60), Phase::kCompute)},
      ms(90));
  EXPECT_EQ(timeline.lane(0)->state(), LaneState::kLive);
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kCompute, ms(0), ms(90)), ms(60));
}

TEST(Lane, HasNoDataFromAnInterruptionToItsNextEvent) {
  Timeline timeline = timeline_of({start(ms(0)), enter(ms(0), Phase::kCompute)}, ms(20));
  timeline.interrupt("n", ms(20));
  timeline.advance("n", ms(60));
  EXPECT_EQ(timeline.lane(0)->known_until(), ms(20));
  timeline.append("n", rank_lane(0), std::vector{enter(ms(70), Phase::kWait)});
  timeline.advance("n", ms(80));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kCompute, ms(0), ms(80)), ms(20));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kWait, ms(0), ms(80)), ms(10));
}

TEST(Lane, CountsAUserPhaseInItsCategory) {
  Timeline timeline;
  wire::Roster with_phase = roster(1);
  with_phase.phases = {{Phase{8}, Phase::kCompute, "assembly"}};
  timeline.apply_roster("n", with_phase);
  timeline.append("n", rank_lane(0), std::vector{start(ms(0)), step(ms(0), 0), enter(ms(0), Phase{8})});
  timeline.advance("n", ms(40));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kCompute, ms(0), ms(40)), ms(40));
  EXPECT_EQ(timeline.phase_name(Phase{8}), "assembly");
}

TEST(Lane, CountsAUserPhaseOfACategoryThatIsNotKnownAsNone) {
  for (const Phase category : {Phase::kNone, Phase::kDelay, Phase{6}, Phase{255}}) {
    Timeline timeline;
    wire::Roster with_phase = roster(1);
    with_phase.phases = {{Phase{8}, category, "checkpoint"}};
    ASSERT_TRUE(timeline.apply_roster("n", with_phase));
    timeline.append("n", rank_lane(0), std::vector{start(ms(0)), step(ms(0), 0), enter(ms(0), Phase{8})});
    timeline.advance("n", ms(40));
    EXPECT_EQ(timeline.lane(0)->time_in(Category::kOther, ms(0), ms(40)), ms(40));
    EXPECT_EQ(timeline.phase_name(Phase{8}), "checkpoint");
  }
}

TEST(Lane, GoesOnWithThePhaseOfAnEventThatIsNotKnown) {
  const Timeline timeline = timeline_of({start(ms(0)),
                                         enter(ms(0), Phase::kCompute),
                                         {ms(10), 1, wire::EventKind{13}, Phase::kWait},
                                         {ms(30), 1, wire::EventKind{15}, Phase::kNone}},
                                        ms(40));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kCompute, ms(0), ms(40)), ms(10));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kWait, ms(0), ms(40)), ms(20));
  EXPECT_EQ(timeline.lane(0)->time_in(Category::kOther, ms(0), ms(40)), ms(10));
}

TEST(Lane, SumsUpEachStepByPhase) {
  const Timeline timeline = timeline_of(
      {start(ms(0)), step(ms(10), 4), enter(ms(11), Phase::kDelay), enter(ms(13), Phase::kCompute),
       enter(ms(20), Phase::kWait), enter(ms(22), Phase::kCommunicate), enter(ms(25), Phase::kNone), step(ms(27), 5)},
      ms(30));
  const StepRecord record = *timeline.lane(0)->step(4);
  EXPECT_EQ(record.begin, ms(10));
  EXPECT_EQ(record.delay, ms(2));
  EXPECT_EQ(record.compute, ms(7));
  EXPECT_EQ(record.wait, ms(2));
  EXPECT_EQ(record.communicate, ms(3));
  EXPECT_EQ(record.end, ms(27));
  EXPECT_EQ(timeline.lane(0)->step(5)->end, ms(0));
}

TEST(Lane, FindsStepsWhoseNumbersHaveGapsOrBeginAgain) {
  std::vector<Event> events{start(ms(0))};
  for (const std::uint64_t number : {0, 1, 5, 9, 0, 1}) events.push_back(step(events.back().time + ms(1), number));
  const Timeline timeline = timeline_of(events, ms(20));
  EXPECT_EQ(timeline.lane(0)->step(5)->begin, ms(3));
  EXPECT_EQ(timeline.lane(0)->step(0)->begin, ms(5)) << "the latest one of that number";
  EXPECT_FALSE(timeline.lane(0)->step(7));
}

/// As where its rank has found out that it took the rounds of an inner loop for its steps.
TEST(Lane, ForgetsStepsThatWereFoundWhereTheSameProgramCountsOthersAnew) {
  Timeline timeline;
  wire::Roster both = roster(2);
  for (wire::RankInfo& info : both.ranks) info.steps = wire::StepSource::kFound;
  timeline.apply_roster("n", both);
  timeline.append("n", rank_lane(0), std::vector{start(ms(0)), step(ms(1), 7), step(ms(2), 8), step(ms(4), 3)});
  timeline.append("n", rank_lane(1), std::vector{start(ms(0)), step(ms(1), 900)});
  EXPECT_EQ(timeline.lane(0)->steps().size(), 1u);
  EXPECT_EQ(timeline.latest_step(), 900);
  timeline.append("n", rank_lane(0), std::vector{step(ms(7), 4), step(ms(9), 5)});
  timeline.append("n", rank_lane(1), std::vector{step(ms(3), 4), step(ms(5), 5)});
  EXPECT_FALSE(timeline.lane(0)->step(7));
  EXPECT_FALSE(timeline.lane(0)->step(7, ms(1)));
  EXPECT_EQ(timeline.lane(0)->step(3)->begin, ms(4));
  EXPECT_EQ(timeline.lane(0)->sums_of_steps(ms(0), ms(10)).steps, 2);
  EXPECT_EQ(timeline.first_step(), 3);
  EXPECT_EQ(timeline.latest_step(), 5);
}

TEST(Lane, KeepsTheStepsOfAProgramWhereTheNextOneCountsItsOwn) {
  Timeline timeline;
  wire::Roster one = roster(1);
  one.ranks[0].steps = wire::StepSource::kFound;
  timeline.apply_roster("n", one);
  timeline.append(
      "n", rank_lane(0),
      std::vector{start(ms(0)), step(ms(1), 0), step(ms(2), 1), stop(ms(3)), start(ms(10)), step(ms(11), 0)});
  EXPECT_EQ(timeline.lane(0)->steps().size(), 3u);
  EXPECT_EQ(timeline.latest_step(), 1);
}

TEST(Lane, GivesItsEventsInSessionTime) {
  Timeline timeline =
      timeline_of({start(ms(1000)), enter(ms(1010), Phase::kWait), enter(ms(1020), Phase::kCompute)}, ms(1030));
  std::vector<Nanoseconds> times;
  timeline.lane(0)->for_each_event(ms(5), ms(20), [&](const Event& event) { times.push_back(event.time); });
  EXPECT_THAT(times, testing::ElementsAre(ms(10)));
}

TEST(Lane, CountsActiveThreads) {
  const Timeline timeline = timeline_of({start(ms(0)), {ms(1), 12, EventKind::kThreads, Phase::kNone}}, ms(2));
  EXPECT_EQ(timeline.lane(0)->threads(), 12);
}

}  // namespace
}  // namespace idlewave::timeline
