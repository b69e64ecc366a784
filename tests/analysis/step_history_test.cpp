#include "monitor/analysis/steps/step_history.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/analysis/ms.h"
#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using timeline::Timeline;
using wire::Nanoseconds;

/// Of three ranks: steps of 10 ms, as many as that, and then of 30 ms.
Timeline that_slows_down(int short_steps, int steps) {
  Timeline timeline;
  timeline.apply_roster("n", timeline::roster(3));
  Nanoseconds now{};
  for (wire::Rank rank = 0; rank < 3; ++rank) {
    now = {};
    std::vector<wire::Event> events{timeline::start(now)};
    for (int step = 0; step <= steps; ++step) {
      events.push_back(timeline::step(now, std::uint64_t(step)));
      now += step < short_steps ? ms(10) : ms(30);
    }
    timeline.append("n", timeline::rank_lane(rank), events);
  }
  timeline.advance("n", now);
  return timeline;
}

TEST(StepLengthAbout, IsThatOfTheStepsBeforeWhateverComesLater) {
  for (const int steps : {21, 25, 200})
    EXPECT_EQ(steps::step_length_about(that_slows_down(20, steps), ms(200)), ms(10)) << steps;
}

TEST(StepLengthAbout, IsThatOfTheNextStepsAsWellWhereFewerThanEightHadEnded) {
  EXPECT_EQ(steps::step_length_about(that_slows_down(2, 40), ms(20)), ms(30));
  EXPECT_EQ(steps::step_length_about(that_slows_down(6, 40), ms(60)), ms(10));
}

TEST(StepLengthAbout, LeavesOutTheStepThatGoesOn) {
  EXPECT_EQ(steps::step_length_about(that_slows_down(0, 1), ms(45)), ms(30));
  EXPECT_EQ(steps::step_length_about(that_slows_down(0, 0), ms(5)), ms(0));
}

}  // namespace
}  // namespace idlewave::analysis
