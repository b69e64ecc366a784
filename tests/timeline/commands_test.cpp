// Delays that were told and commands that were sent.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/timeline/timeline.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

TEST(Timeline, TellsOfADelayWhenItsRankTells) {
  const Timeline timeline =
      timeline_of({start(ms(0)), step(ms(5), 3), delay_begin(ms(5), 0), delay_end(ms(25), 0)}, ms(30));
  ASSERT_EQ(timeline.delays().size(), 1u);
  EXPECT_EQ(timeline.delays()[0].step, 3);
  EXPECT_EQ(timeline.delays()[0].begin, ms(5));
  EXPECT_EQ(timeline.delays()[0].end, ms(25));
  EXPECT_TRUE(timeline.delays()[0].ended);
}

Event switched(Nanoseconds at, Phase phase) { return {at, 0, EventKind::kSwitch, phase}; }

struct ToldDelay {
  wire::CommandId command;
  wire::Step step;
  Nanoseconds begin, end;
  friend bool operator==(const ToldDelay&, const ToldDelay&) = default;
};
std::vector<ToldDelay> delays_of(const Timeline& timeline) {
  std::vector<ToldDelay> told;
  for (const Delay& delay : timeline.delays())
    told.push_back({delay.command, delay.step, delay.begin, delay.ended ? delay.end.session_time() : Nanoseconds{-1}});
  return told;
}

TEST(Delays, AreTheProgramsOwnWhereThePhaseAloneTellsThem) {
  const Timeline timeline = timeline_of(
      {start(ms(0)), step(ms(5), 3), switched(ms(5), Phase::kDelay), switched(ms(25), Phase::kCompute),
       switched(ms(30), Phase::kWait), switched(ms(31), Phase::kDelay), step(ms(40), 4, Phase::kDelay), stop(ms(60))},
      ms(70));
  EXPECT_EQ(delays_of(timeline), (std::vector<ToldDelay>{{0, 3, ms(5), ms(25)}, {0, 3, ms(31), ms(60)}}));
}

TEST(Delays, OfTheProgramGoOnBehindAnOrderThatComesMeanwhile) {
  Event released = delay_end(ms(20), 7);
  released.phase = Phase::kDelay;
  const Timeline timeline = timeline_of({start(ms(0)), switched(ms(5), Phase::kDelay), step(ms(10), 0, Phase::kDelay),
                                         delay_begin(ms(10), 7), released, switched(ms(30), Phase::kCompute)},
                                        ms(40));
  EXPECT_EQ(
      delays_of(timeline),
      (std::vector<ToldDelay>{{0, wire::kNoStep, ms(5), ms(10)}, {7, 0, ms(10), ms(20)}, {0, 0, ms(20), ms(30)}}));
}

TEST(Delays, ThatAreSumsOrFollowALossAreNotTheProgramsOwn) {
  const auto sum = [](Nanoseconds at, std::uint64_t phases, Phase phase) {
    return Event{at, phases, EventKind::kSummed, phase};
  };
  const Timeline timeline =
      timeline_of({start(ms(0)), sum(ms(1), 9, Phase::kCompute), switched(ms(2), Phase::kDelay),
                   sum(ms(3), 5, Phase::kDelay), sum(ms(4), 0, Phase::kCompute), dropped(ms(10), 2, Phase::kDelay),
                   delay_end(ms(12), 7), switched(ms(13), Phase::kDelay), dropped(ms(20), 4, Phase::kDelay),
                   sum(ms(21), 3, Phase::kDelay), sum(ms(22), 0, Phase::kDelay)},
                  ms(40));
  EXPECT_EQ(delays_of(timeline),
            (std::vector<ToldDelay>{{0, wire::kNoStep, ms(13), ms(21)}, {0, wire::kNoStep, ms(22), Nanoseconds{-1}}}));
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

TEST(Timeline, EndsNoiseWhoseGiverHasGoneWhenAllNodesHaveLostHim) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(2));
  const wire::NoiseOrder noise{.amount = ms(1), .ends_with_giver = true};
  const wire::Command ending{7 | wire::kEndsNoise, {}, wire::ClearOrder{7}};
  timeline.apply_roster("m", roster(1, 2, 2));
  for (const char* node : {"n", "m"}) timeline.add_outcome(node, {{7, {}, noise}, ms(1), true, ""});
  timeline.add_outcome("m", {ending, ms(9), true, ""});
  EXPECT_FALSE(timeline.commands()[0].over);
  timeline.add_outcome("n", {ending, ms(12), true, ""});
  EXPECT_TRUE(timeline.commands()[0].over);
  EXPECT_EQ(timeline.commands()[0].ended(), ms(12));
}

TEST(Timeline, EndsNothingByAnOrderThatItDoesNotKnow) {
  Timeline timeline = timeline_of({start(ms(0))}, ms(2));
  timeline.add_outcome("n", {{7, {}, wire::NoiseOrder{}}, ms(1), true, ""});
  timeline.add_outcome("n", {{8, {}, wire::UnknownOrder{"pause"}}, ms(9), true, ""});
  EXPECT_FALSE(timeline.commands()[0].over);
  EXPECT_TRUE(timeline.commands()[1].accepted);
}

}  // namespace
}  // namespace idlewave::timeline
