#include "monitor/term/terminfo.h"

#include <gmock/gmock.h>

namespace idlewave::term {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string complaint_about(const char* name) {
  const wire::Result<TerminalInfo> info = read_terminfo(name);
  return info ? "none" : info.error().message;
}

TEST(Terminfo, SaysWhatToSetWhenTermIsUnset) {
  EXPECT_THAT(complaint_about(nullptr), HasSubstr("set TERM=xterm-256color"));
}

TEST(Terminfo, SaysWhatToSetWhenTermIsEmpty) { EXPECT_THAT(complaint_about(""), HasSubstr("set TERM=xterm-256color")); }

TEST(Terminfo, NamesATerminalThatNobodyKnows) {
  EXPECT_THAT(complaint_about("no-such-terminal"), HasSubstr("TERM=no-such-terminal"));
}

TEST(Terminfo, RefusesATerminalThatCantPlaceItsCursor) {
  EXPECT_THAT(complaint_about("dumb"), HasSubstr("TERM=dumb can't place the cursor"));
}

TEST(Terminfo, ComplainsInOneLine) {
  for (const char* name : {"", "dumb", "no-such-terminal"}) EXPECT_THAT(complaint_about(name), Not(HasSubstr("\n")));
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
