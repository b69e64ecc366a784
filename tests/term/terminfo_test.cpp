#include "monitor/term/terminfo.h"

#include <gmock/gmock.h>

namespace idlewave::term {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string complaint_about(const char* name) {
  const wire::Result<TerminalInfo> info = read_terminfo(name);
  return info ? "none" : info.error().message;
}

std::string taken_for(const char* name) {
  const wire::Result<TerminalInfo> info = read_terminfo(name);
  return info ? info->name : info.error().message;
}

TEST(Terminfo, SaysThatTermIsNotSet) {
  EXPECT_THAT(complaint_about(nullptr), HasSubstr("TERM is not set"));
  EXPECT_THAT(complaint_about(""), HasSubstr("TERM is not set"));
}

TEST(Terminfo, TakesAStrangerForItsNearestRelative) {
  EXPECT_EQ(taken_for("no-such-terminal"), "xterm-256color");
  EXPECT_EQ(taken_for("xterm-of-tomorrow"), "xterm-256color");
  EXPECT_EQ(taken_for("screen.tomorrow"), "screen-256color");
  EXPECT_EQ(taken_for("tmux-of-tomorrow"), "tmux-256color");
  EXPECT_EQ(taken_for("linux-of-tomorrow"), "linux");
  EXPECT_EQ(taken_for("vt100-of-yesterday"), "vt100");
  EXPECT_EQ(taken_for("vt999"), "vt100");
}

TEST(Terminfo, SaysForWhatItTookAStrangerAndNothingOfTheOthers) {
  EXPECT_THAT(read_terminfo("no-such-terminal")->note,
              AllOf(HasSubstr("TERM=no-such-terminal"), HasSubstr("xterm-256color"), Not(HasSubstr("\n"))));
  EXPECT_EQ(read_terminfo("xterm")->note, "");
}

TEST(Terminfo, RefusesATerminalThatCantPlaceItsCursorAndItsRelatives) {
  EXPECT_THAT(complaint_about("dumb"), HasSubstr("TERM=dumb can't place the cursor"));
  EXPECT_THAT(complaint_about("dumb-of-tomorrow"), HasSubstr("can't place the cursor"));
}

TEST(Terminfo, ComplainsInOneLine) {
  for (const char* name : {"", "dumb"}) EXPECT_THAT(complaint_about(name), Not(HasSubstr("\n")));
}

TEST(Terminfo, CountsTheColoursOfATerminal) {
  EXPECT_EQ(read_terminfo("xterm-256color")->colours, 256);
  EXPECT_EQ(read_terminfo("xterm")->colours, 8);
  EXPECT_EQ(read_terminfo("vt100")->colours, 0);
}

TEST(Terminfo, KnowsWhereScrollingIsCheap) {
  EXPECT_TRUE(read_terminfo("xterm-256color")->erases_in_colour);
  EXPECT_FALSE(read_terminfo("tmux-256color")->erases_in_colour);
}

TEST(Terminfo, LeavesInTheOppositeOrderOfEntering) {
  const wire::Result<TerminalInfo> info = read_terminfo("xterm-256color");
  ASSERT_TRUE(info);
  EXPECT_THAT(info->enter, HasSubstr("\x1b[?1049h"));
  EXPECT_THAT(info->leave, HasSubstr("\x1b[?1049l"));
  EXPECT_THAT(info->leave, HasSubstr("\x1b[?1000l"));
}

TEST(Terminfo, LeavesOutThePaddingOfOldTerminals) { EXPECT_THAT(read_terminfo("vt100")->leave, Not(HasSubstr("$<"))); }

}  // namespace
}  // namespace idlewave::term
