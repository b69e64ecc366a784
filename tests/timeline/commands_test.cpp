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
