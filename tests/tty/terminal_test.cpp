// The terminal and the guard on a real terminal with a real shell: what a person presses arrives, and whatever ends the
// program, the terminal is afterwards as it was.

#include <gmock/gmock.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <sstream>

#include "tmux_session.h"

namespace idlewave::tty {
namespace {

using testing::HasSubstr;

class OnATerminal : public testing::Test {
 protected:
  void SetUp() override {
    if (!tmux_is_installed()) GTEST_SKIP() << "tmux is not installed (apt-get install tmux)";
  }
};

/// The example program in a terminal, with a look into its log.
class Running {
 public:
  explicit Running(TmuxSession& session, const std::string& how = "%") : session_(session), before_(session.state()) {
    std::string command = how;
    command.replace(command.find('%'), 1, std::string(TERMINAL_EXAMPLE) + " " + log_name() + " helper");
    session_.run(command + "; echo code $?");
    EXPECT_TRUE(session_.shows("key none")) << session_.screen();
    EXPECT_TRUE(eventually([&] { return pids("helper").size() == 2; })) << log();
  }

  std::string log_name() const { return session_.folder() + "/log"; }
  std::string log() const {
    std::ifstream file(log_name());
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  std::vector<pid_t> pids(const std::string& who) const {
    std::istringstream lines(log());
    std::vector<pid_t> found;
    for (std::string word; lines >> word;)
      if (pid_t pid = 0; word == who && lines >> pid) found.push_back(pid);
    return found;
  }
  pid_t monitor() const { return pids("monitor").at(0); }
  pid_t guard() const { return pids("guard").at(0); }

  /// The promise of the whole: everything started is gone, and the terminal is as it was.
  void expect_a_clean_end(int code) {
    EXPECT_TRUE(session_.shows("code " + std::to_string(code))) << session_.screen();
    expect_all_is_gone();
    EXPECT_EQ(session_.state(), before_);
  }
  void expect_all_is_gone() const {
    for (const char* who : {"monitor", "guard", "helper"})
      for (const pid_t pid : pids(who))
        EXPECT_TRUE(eventually([&] { return !process_lives(pid); })) << who << " " << pid;
  }
  void expect_the_terminal_as_before() { EXPECT_EQ(session_.state(), before_); }

 private:
  TmuxSession& session_;
  std::string before_;
};

TEST_F(OnATerminal, TakesTheWholeScreen) {
  TmuxSession session;
  const Running program(session);
  EXPECT_EQ(session.format("alternate_on"), "1\n");
  EXPECT_EQ(session.format("cursor_flag"), "0\n");
  EXPECT_EQ(session.format("mouse_any_flag"), "1\n");
}

TEST_F(OnATerminal, HandsOverEveryKey) {
  TmuxSession session;
  const Running program(session);
  const std::pair<const char*, const char*> keys[] = {{"x", "character 120"},
                                                      {"?", "character 63"},
                                                      {"Enter", "code 1 "},
                                                      {"Escape", "code 2 "},
                                                      {"Tab", "code 3 "},
                                                      {"BTab", "code 4 "},
                                                      {"BSpace", "code 5 "},
                                                      {"DC", "code 6 "},
                                                      {"Up", "code 7 "},
                                                      {"Down", "code 8 "},
                                                      {"Left", "code 9 "},
                                                      {"Right", "code 10 "},
                                                      {"PPage", "code 11 "},
                                                      {"NPage", "code 12 "},
                                                      {"Home", "code 13 "},
                                                      {"End", "code 14 "},
                                                      {"é", "character 233"},
                                                      {"C-l", "control-character 108"},
                                                      {"C-s", "control-character 115"}};
  for (const auto& [name, description] : keys) {
    session.press(name);
    EXPECT_TRUE(session.shows(std::string("key ") + description)) << name << "\n" << program.log();
  }
}

TEST_F(OnATerminal, HandsOverTheMouse) {
  TmuxSession session;
  const Running program(session);
  session.type("\x1b[<0;12;5M");
  EXPECT_TRUE(session.shows("key code 15 at 11,4")) << program.log();
}

TEST_F(OnATerminal, FollowsTheWindow) {
  TmuxSession session;
  const Running program(session);
  for (const auto& [columns, rows] : {std::pair{20, 5}, std::pair{400, 120}, std::pair{81, 25}}) {
    session.resize(columns, rows);
    ASSERT_TRUE(session.shows("size " + std::to_string(columns) + "x" + std::to_string(rows)));
    ASSERT_TRUE(eventually([&] {
      const std::string screen = session.screen();
      return screen.size() >= 2 && screen[screen.size() - 2] == '#' &&
             std::count(screen.begin(), screen.end(), '\n') == rows;
    })) << session.screen();
  }
}

TEST_F(OnATerminal, ShowsAHalfBlockInTwoColours) {
  TmuxSession session;
  const Running program(session);
  ASSERT_TRUE(session.shows("delay"));
  EXPECT_THAT(session.coloured_screen(), HasSubstr("38;5;166"));
  EXPECT_THAT(session.coloured_screen(), HasSubstr("48;5;235"));
  EXPECT_THAT(session.screen(), HasSubstr("▀▀▀"));
}

TEST_F(OnATerminal, UsesNoColourWhenAskedNotTo) {
  TmuxSession session(80, 24, {"NO_COLOR=1"});
  const Running program(session);
  ASSERT_TRUE(session.shows("delay"));
  EXPECT_FALSE(std::regex_search(session.coloured_screen(), std::regex("[;[][34][0-8][;m]")))
      << session.coloured_screen();
}

TEST_F(OnATerminal, UsesAsciiAloneInTheCLocale) {
  TmuxSession session(80, 24, {"LC_ALL=C"});
  const Running program(session);
  ASSERT_TRUE(session.shows("delay"));
  EXPECT_EQ(session.screen().find("▀"), std::string::npos);
  EXPECT_THAT(session.screen(), HasSubstr("\"\"\""));
}

TEST_F(OnATerminal, SpeaksUnicodeInALanguageThatIsNotInstalled) {
  TmuxSession session(80, 24, {"LANG=tlh_KLI.UTF-8"});
  const Running program(session);
  EXPECT_TRUE(session.shows("▀▀▀"));
}

TEST_F(OnATerminal, RunsOnEveryTerminalThatCanPlaceItsCursor) {
  for (const char* term : {"xterm", "xterm-256color", "vt100", "screen", "tmux-256color", "linux"}) {
    TmuxSession session(80, 24, {std::string("TERM=") + term});
    Running program(session);
    EXPECT_TRUE(session.shows("bottom")) << term;
    session.type("q");
    program.expect_a_clean_end(0);
  }
}

TEST_F(OnATerminal, TakesANameThatTheDatabaseLacksForItsNearestRelativeAndSaysSo) {
  for (const auto& [term, taken_for] : {std::pair{"no-such-terminal", "xterm-256color"}, std::pair{"vt999", "vt100"}}) {
    TmuxSession session(120, 24, {std::string("TERM=") + term});
    Running program(session);
    EXPECT_TRUE(session.shows(std::string("TERM=") + term)) << session.screen();
    EXPECT_TRUE(session.shows(std::string("taken for ") + taken_for)) << session.screen();
    session.type("q");
    program.expect_a_clean_end(0);
  }
}

TEST_F(OnATerminal, PrintsLinesWithoutAnyEscapeSequenceOnATerminalThatCantPlaceItsCursor) {
  for (const char* change : {"TERM=dumb", "TERM=", "-u TERM"}) {
    TmuxSession session(120, 24, {change});
    const std::string bytes = session.folder() + "/bytes";
    session.run("script -q -c '" + std::string(TERMINAL_EXAMPLE) + " /dev/null' " + bytes + "; echo code $?");
    EXPECT_TRUE(session.shows("bottom")) << change << session.screen();
    EXPECT_TRUE(session.shows("printed as text")) << change;
    EXPECT_EQ(session.format("alternate_on"), "0\n") << change;
    session.type("x");
    EXPECT_TRUE(session.shows("key character 120")) << change;
    session.type("q");
    EXPECT_TRUE(session.shows("code 0")) << change << session.screen();
    std::ifstream file(bytes, std::ios::binary);
    const std::string written{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(written, HasSubstr("key character 120"));
    EXPECT_EQ(written.find('\x1b'), std::string::npos) << change;
  }
}

TEST_F(OnATerminal, SaysWhatToDoWhenOutputLeadsElsewhere) {
  TmuxSession session;
  EXPECT_THAT(session.output_of(std::string(TERMINAL_EXAMPLE) + " /dev/null; echo code $?"),
              HasSubstr("use --headless\ncode 1"));
}

TEST_F(OnATerminal, IsAsBeforeAfterQuitting) {
  TmuxSession session;
  Running program(session);
  session.type("q");
  program.expect_a_clean_end(0);
}

TEST_F(OnATerminal, IsAsBeforeAfterCtrlC) {
  TmuxSession session;
  Running program(session);
  session.press("C-c");
  program.expect_a_clean_end(128 + SIGINT);
}

TEST_F(OnATerminal, IsAsBeforeAfterEverySignalToTheGuard) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    TmuxSession session;
    Running program(session);
    ::kill(program.guard(), signal);
    program.expect_a_clean_end(128 + signal);
  }
}

TEST_F(OnATerminal, IsAsBeforeAfterEverySignalToTheMonitor) {
  for (const int signal : {SIGTERM, SIGHUP, SIGSEGV, SIGABRT, SIGKILL}) {
    TmuxSession session;
    Running program(session);
    ::kill(program.monitor(), signal);
    program.expect_a_clean_end(128 + signal);
  }
}

TEST_F(OnATerminal, SaysWhatEndedItAfterACrash) {
  TmuxSession session(160, 24);
  Running program(session);
  session.type("S");
  program.expect_a_clean_end(128 + SIGSEGV);
  EXPECT_TRUE(session.shows("was ended by signal 11 (Segmentation fault); the terminal has been restored"))
      << session.screen();
}

TEST_F(OnATerminal, IsAsBeforeAfterTheGuardIsKilled) {
  TmuxSession session;
  Running program(session);
  ::kill(program.guard(), SIGKILL);
  program.expect_all_is_gone();  // the shell may have said so while the monitor was still leaving the screen
  program.expect_the_terminal_as_before();
}

TEST_F(OnATerminal, IsHitAloneWhenKilledByName) {
  TmuxSession session;
  Running program(session);
  std::ifstream name("/proc/" + std::to_string(program.guard()) + "/comm");
  std::string comm;
  name >> comm;
  EXPECT_EQ(comm, "iw-guard");
}

TEST_F(OnATerminal, ComesBackAfterCtrlZAndFg) {
  TmuxSession session;
  Running program(session);
  session.press("C-z");
  ASSERT_TRUE(session.shows("Stopped")) << session.screen();
  EXPECT_EQ(session.format("alternate_on"), "0\n");
  EXPECT_EQ(session.format("cursor_flag"), "1\n");
  session.resize(60, 20);
  session.run("fg; echo code $?");
  ASSERT_TRUE(session.shows("size 60x20")) << session.screen();
  EXPECT_EQ(session.format("alternate_on"), "1\n");
  session.press("x");
  EXPECT_TRUE(session.shows("key character 120"));
  session.resize(80, 24);
  session.type("q");
  program.expect_a_clean_end(0);
}

TEST_F(OnATerminal, ComesBackAgainAndAgain) {
  TmuxSession session;
  Running program(session);
  for (int i = 0; i < 5; ++i) {
    session.press("C-z");
    ASSERT_TRUE(eventually([&] { return session.format("alternate_on") == "0\n"; })) << i;
    ASSERT_TRUE(session.shows("Stopped"));
    session.run("clear; fg; echo code $?");
    ASSERT_TRUE(session.shows("bottom")) << i << session.screen();
  }
  session.type("q");
  program.expect_a_clean_end(0);
}

TEST_F(OnATerminal, IsInOrderWhenTheMonitorIsStoppedWithoutAsking) {
  TmuxSession session;
  Running program(session);
  ::kill(program.monitor(), SIGSTOP);
  ASSERT_TRUE(session.shows("Stopped")) << session.screen();
  EXPECT_EQ(session.format("alternate_on"), "0\n");
  session.run("fg; echo code $?");
  ASSERT_TRUE(session.shows("bottom")) << session.screen();
  session.type("q");
  program.expect_a_clean_end(0);
}

/// A script in between, as scripts/demo is: the shell's job is the script.
TEST_F(OnATerminal, ComesBackAfterCtrlZAndFgBehindAScript) {
  TmuxSession session;
  const std::string script = session.folder() + "/script";
  std::ofstream(script) << "set -e\n\"$@\"\necho after\n";
  Running program(session, "bash " + script + " %");
  session.press("C-z");
  ASSERT_TRUE(session.shows("Stopped")) << session.screen();
  EXPECT_EQ(session.format("alternate_on"), "0\n");
  session.run("fg; echo code $?");
  ASSERT_TRUE(session.shows("bottom")) << session.screen();
  session.type("q");
  program.expect_a_clean_end(0);
  EXPECT_TRUE(session.shows("after"));
}

TEST_F(OnATerminal, EndsOnceOnCtrlCBehindAScript) {
  TmuxSession session;
  const std::string script = session.folder() + "/script";
  std::ofstream(script) << "set -e\n\"$@\"\necho after\n";
  Running program(session, "bash " + script + " %");
  session.press("C-c");
  program.expect_a_clean_end(128 + SIGINT);
  EXPECT_EQ(session.screen().find("after"), std::string::npos);
}

TEST_F(OnATerminal, WaitsInTheBackgroundUntilItIsCalled) {
  TmuxSession session;
  const std::string before = session.state();
  session.run(std::string(TERMINAL_EXAMPLE) + " " + session.folder() + "/log &");
  session.run("sleep 0.3; jobs");
  ASSERT_TRUE(session.shows("Stopped")) << session.screen();
  session.run("fg; echo code $?");
  ASSERT_TRUE(session.shows("bottom")) << session.screen();
  session.type("q");
  ASSERT_TRUE(eventually([&] { return session.format("alternate_on") == "0\n"; }));
  EXPECT_EQ(session.state(), before);
}

TEST_F(OnATerminal, EndsWhenTheTerminalIsClosed) {
  TmuxSession session;
  const Running program(session);
  session.close();
  program.expect_all_is_gone();
}

}  // namespace
}  // namespace idlewave::tty
