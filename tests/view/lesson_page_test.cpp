// The page of a lesson, in its panel and over the whole screen.

#include "monitor/view/panels/lesson_page.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/view/keys/update.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/panels/panels.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using paint::Size;
using std::chrono::seconds;
using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not;
using testing::SyntheticSession;

std::string words_up_to(int count) {
  std::string words;
  for (int i = 0; i < count; ++i) words += fmt::format("word{} ", i);
  return words;
}

TEST(LessonOnScreen, KeepsTheKeysAndTheQuestionOfALessonThatIsCut) {
  SyntheticSession taught({.length = seconds(1)});
  taught.session.lesson->text = words_up_to(60);
  const std::string cut = text({}, taught.model(), {80, 24}, kMonochrome);
  EXPECT_THAT(cut, HasSubstr("Enter answer · L all of it"));
  EXPECT_THAT(cut, HasSubstr("How many of the ten ranks"));
  EXPECT_THAT(cut, Not(HasSubstr("word59")));
}

/// On a low screen they take the row of the events, and nothing else moves.
TEST(LessonOnScreen, ShowsAllChoicesAndWhatWasFoundOfALesson) {
  SyntheticSession taught({.length = seconds(1)});
  Lesson& lesson = *taught.session.lesson;
  const auto shown = [&] { return text({}, taught.model(), {80, 24}, kMonochrome); };
  lesson.now = "Which ranks will wait because of it? a) those above it b) those below it c) all others";
  EXPECT_THAT(shown(), AllOf(HasSubstr("c) all others"), HasSubstr("Enter answer"), Not(HasSubstr("socket 2 left"))));
  lesson.expected = "";
  EXPECT_THAT(shown(), AllOf(HasSubstr("c) all others"), Not(HasSubstr("Enter answer")))) << "who looks on";
  lesson.asks = false;
  lesson.now = "Watching, 3 s: until all sockets keep their state for 3 s, and the wave has ended.";
  EXPECT_THAT(shown(), AllOf(HasSubstr("LESSON 1 of 2 · Watching, 3 s"), HasSubstr("socket 2 left lockstep")));
  const int map = layout::lay_out(panels::all_panels(), {}, taught.model(), {80, 24}, kMonochrome).map.height;
  lesson.verdict = "You said 3 ranks/step. Both fronts run.";
  lesson.now =
      "You said 3 ranks/step. Speed of the front downwards: measured 1 rank/step, theory 1 rank/step. Both fronts run.";
  EXPECT_THAT(shown(), HasSubstr("theory 1 rank/step"));
  EXPECT_EQ(layout::lay_out(panels::all_panels(), {}, taught.model(), {80, 24}, kMonochrome).map.height, map);
}

TEST(LessonOnScreen, ShowsAllOfALessonsPageByItsKeyAtEverySize) {
  SyntheticSession taught({.length = seconds(1)});
  taught.session.lesson->text = words_up_to(60);
  for (const Size size : {Size{160, 48}, Size{80, 24}, Size{40, 12}, Size{20, 5}}) {
    State state;
    std::string seen;
    const auto look = [&] { seen += text(state, taught.model(), size, kMonochrome); };
    state = keys::update(state, key_of(U'L'), taught.model(), size, kMonochrome).state;
    for (int i = 0; i < 100; ++i) {
      look();
      state = keys::update(state, key_of(KeyCode::kDown), taught.model(), size, kMonochrome).state;
    }
    for (int i = 0; i < 60; ++i)
      EXPECT_THAT(seen, HasSubstr(fmt::format("word{}", i))) << size.columns << 'x' << size.rows;
    EXPECT_THAT(seen, HasSubstr("2020"));
    EXPECT_THAT(seen, HasSubstr("Enter"));
  }
}

TEST(LessonOnScreen, NamesTheKeyOfALessonForWhichItHasNoRoom) {
  for (const Size size : {Size{40, 12}, Size{20, 5}}) EXPECT_THAT(text(size), HasSubstr(" L")) << size.columns;
}

}  // namespace
}  // namespace idlewave::view
