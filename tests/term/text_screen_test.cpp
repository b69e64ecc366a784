#include "monitor/term/text_screen.h"

#include <gmock/gmock.h>

namespace idlewave::term {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

view::paint::Canvas canvas_of(const std::string& text) {
  view::paint::Canvas canvas({.columns = 12, .rows = 3});
  canvas.text(0, 0, text, view::paint::Ink::kStrong, view::paint::Ink::kDefault, true);
  canvas.text(0, 2, "end", view::paint::Ink::kText);
  return canvas;
}

class TextScreenTest : public testing::Test {
 protected:
  std::chrono::nanoseconds now_{0};
  TextScreen screen_{[this] { return now_; }};
};

TEST_F(TextScreenTest, PrintsAPictureAsLinesThatFillTheTerminalAndNoMore) {
  EXPECT_EQ(screen_.draw(canvas_of("first")), "\r\nfirst\r\n\r\nend");
}

TEST_F(TextScreenTest, HasNoEscapeSequence) { EXPECT_THAT(screen_.draw(canvas_of("x")), Not(HasSubstr("\x1b"))); }

TEST_F(TextScreenTest, PrintsTheNextPictureOnlyAfterAWhile) {
  screen_.draw(canvas_of("first"));
  now_ += kTextPeriod - 1ns;
  EXPECT_EQ(screen_.draw(canvas_of("second")), "");
  now_ += 1ns;
  EXPECT_THAT(screen_.draw(canvas_of("third")), HasSubstr("third"));
  EXPECT_EQ(screen_.draw(canvas_of("fourth")), "");
}

TEST_F(TextScreenTest, PrintsNothingThatStandsThereAlready) {
  screen_.draw(canvas_of("same"));
  now_ += 2 * kTextPeriod;
  EXPECT_EQ(screen_.draw(canvas_of("same")), "");
  EXPECT_THAT(screen_.draw(canvas_of("other")), HasSubstr("other"));
}

TEST_F(TextScreenTest, PrintsAtOnceWhatAKeyHasDone) {
  screen_.draw(canvas_of("first"));
  screen_.hurry();
  EXPECT_THAT(screen_.draw(canvas_of("second")), HasSubstr("second"));
}

}  // namespace
}  // namespace idlewave::term
