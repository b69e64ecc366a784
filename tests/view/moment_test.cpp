// One moment, of which panels tell.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "monitor/view/layout/layout.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/panels.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;
using ::testing::HasSubstr, ::testing::Not;

TEST(Moment, IsTheRightEdgeOfAMapOfThePast) {
  State state{.follow = false, .zoom = 14};
  const layout::Layout layout =
      layout::lay_out(panels::all_panels(), state, usual_session().model(), {160, 48}, kColour);
  ASSERT_LT(layout.window.to(), seconds(5));
  EXPECT_EQ(screen::shown_moment(state, usual_session().model(), {160, 48}, kColour), layout.window.to());
  EXPECT_EQ(screen::shown_moment({}, usual_session().model(), {160, 48}, kColour), usual_session().timeline.now());
}

TEST(Moment, IsThatOfTheCursor) {
  State state;
  state.cursor_time = milliseconds(1500);
  const Nanoseconds at = screen::shown_moment(state, usual_session().model(), {160, 48}, kColour);
  const layout::Layout layout =
      layout::lay_out(panels::all_panels(), state, usual_session().model(), {160, 48}, kColour);
  EXPECT_GT(at, milliseconds(1500));
  EXPECT_LE(at, milliseconds(1500) + layout.window.column);
}

TEST(Moment, IsNowOnceTheMapThatFollowsLeftTheCursorBehind) {
  const State state{.cursor_time = seconds(1), .zoom = 14};
  const Model& model = usual_session().model();
  const layout::Layout layout = layout::lay_out(panels::all_panels(), state, model, {160, 48}, kColour);
  ASSERT_GT(layout.window.from(), seconds(1));
  EXPECT_EQ(screen::shown_moment(state, model, {160, 48}, kColour), usual_session().timeline.now());
  const std::string shown = text(state, model, {160, 48}, kMonochrome);
  EXPECT_THAT(shown, HasSubstr("sockets at 5.0 s"));
  EXPECT_EQ(shown, text({.zoom = 14}, model, {160, 48}, kMonochrome));
}

TEST(Moment, StandsBesideTheSocketsInverseWhereItIsPast) {
  const auto is_inverse = [](const State& state) {
    const paint::Canvas canvas = screen::draw(state, usual_session().model(), {160, 48}, kColour);
    std::istringstream lines(paint::to_text(canvas));
    int y = 0;
    for (std::string line; std::getline(lines, line); ++y) {
      std::string_view before = std::string_view(line).substr(0, line.find("sockets at 5.0 s"));
      if (before.size() < line.size()) return canvas.at(paint::columns_of(before), y).reverse;
    }
    ADD_FAILURE() << "no moment";
    return false;
  };
  EXPECT_FALSE(is_inverse({}));
  EXPECT_TRUE(is_inverse({.cursor_time = seconds(2)}));
}

TEST(Moment, LeavesWavesAndEventsOfTheFutureUntold) {
  State state;
  state.paused = true;
  state.paused_at = milliseconds(700);
  std::string shown = text(state, usual_session().model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown, Not(HasSubstr("last wave")));
  EXPECT_THAT(shown, Not(HasSubstr("delay began")));
  EXPECT_THAT(shown, HasSubstr("3 newer"));
  state.paused_at = milliseconds(1000);
  shown = text(state, usual_session().model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown, HasSubstr("last wave: rank 5"));
  EXPECT_THAT(shown, HasSubstr("running"));
  EXPECT_THAT(shown, HasSubstr("delay began"));
  EXPECT_THAT(shown, HasSubstr("2 newer"));
}

TEST(Events, SayHowManyAreNewerThanThoseShown) {
  EXPECT_THAT(text({.focus = U'3', .scrolled = {{U'3', 2}}}, usual_session().model(), {80, 24}, kMonochrome),
              HasSubstr("2 newer"));
  EXPECT_THAT(text({80, 24}), Not(HasSubstr("newer")));
}

}  // namespace
}  // namespace idlewave::view
