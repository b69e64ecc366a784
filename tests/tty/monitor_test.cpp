// The real `idlewave demo` on a real terminal, with real MPI ranks: what a user sees, presses and kills.

#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "tests/sanitized.h"
#include "tmux_session.h"

namespace idlewave::tty {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string file_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Processes with `tag` in their environment, all or those of a name.
std::vector<pid_t> pids_of(const std::string& tag, const std::string& name) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string number = entry.path().filename();
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    if (file_text(entry.path() / "environ").find(tag) == std::string::npos) continue;
    if (name.empty() || file_text(entry.path() / "comm") == name + "\n") found.push_back(std::stoi(number));
  }
  return found;
}

/// A small lesson in a terminal of its own; its processes are known by a variable in their environment.
class Demo {
 public:
  explicit Demo(TmuxSession& session, const std::string& lesson = "core-bound")
      : session_(session), tag_("IDLEWAVE_DIR=" + session.folder() + "/sessions"), before_(session.state()) {
    session_.run(tag_ + " " IDLEWAVE_PROGRAM " demo " + lesson + " --ranks 4 --ranks-per-domain 2; echo code $?");
    EXPECT_TRUE(session_.shows("LIVE")) << session_.screen();
    EXPECT_TRUE(eventually([&] { return pids("iw-ring").size() == 4; }));
    for (const pid_t rank : pids("iw-ring")) remember_shared_memory_of(rank);
  }

  std::vector<pid_t> pids(const std::string& name) const { return pids_of(tag_, name); }

  void expect_a_clean_end(int code) {
    EXPECT_TRUE(session_.shows("code " + std::to_string(code))) << session_.screen();
    for (const fs::path& path : shared_memory_) EXPECT_FALSE(fs::exists(path)) << path;
    expect_everything_as_before();
  }

  void expect_everything_as_before() {
    EXPECT_TRUE(eventually([&] { return pids("").empty(); })) << "processes are left";
    EXPECT_EQ(session_.state(), before_);
  }

 private:
  /// What MPI has in there for messages between ranks, and is to remove when it ends.
  void remember_shared_memory_of(pid_t rank) {
    std::ifstream maps("/proc/" + std::to_string(rank) + "/maps");
    for (std::string line; std::getline(maps, line);)
      if (const auto begin = line.find("/dev/shm/"); begin != std::string::npos)
        shared_memory_.insert(line.substr(begin));
  }

  TmuxSession& session_;
  std::string tag_;
  std::string before_;
  std::set<fs::path> shared_memory_;
};

class TheMonitor : public testing::Test {
 protected:
  void SetUp() override {
    if (!tmux_is_installed()) GTEST_SKIP() << "tmux is not installed (apt-get install tmux)";
  }
};

TEST_F(TheMonitor, EndsEverythingWithQ) {
  TmuxSession session;
  const std::string recording = session.folder() + "/l.iw";
  Demo demo(session, "core-bound --record " + recording);
  session.press("q");
  demo.expect_a_clean_end(0);
  session.run("clear; " IDLEWAVE_PROGRAM " info --check " + recording +
              " | grep lost_ranks; echo checked ${PIPESTATUS[0]}");
  EXPECT_TRUE(session.shows("checked 0")) << "what the lesson's program had to say at its end is missing\n"
                                          << session.screen();
  EXPECT_THAT(session.screen(), testing::ContainsRegex("lost_ranks +none"));
}

TEST_F(TheMonitor, InjectsADelayOnceTheLessonIsAnsweredAndShowsItOnceItTookEffect) {
  TmuxSession session(120, 60);  // what is told stays in the list for a while
  Demo demo(session, "core-bound");
  session.press("i");
  ASSERT_TRUE(session.shows("the lesson asks something first")) << session.screen();
  session.press("Enter");
  session.type("a");
  session.press("Enter");
  ASSERT_TRUE(session.shows("Press i, Enter and y")) << session.screen();
  ASSERT_TRUE(session.shows("virtual socket 1 runs in")) << "the premise of the page\n" << session.screen();
  session.press("i");
  ASSERT_TRUE(session.shows("inject into rank 1")) << session.screen();
  session.type("soon");
  session.press("Enter");
  ASSERT_TRUE(session.shows("250")) << "what is accepted is not said\n" << session.screen();
  session.press("Escape");
  session.press("i");
  session.type("300ms");
  session.press("Enter");
  ASSERT_TRUE(session.shows("300 ms into rank 1")) << session.screen();
  session.press("y");
  EXPECT_TRUE(session.shows("delay began on rank 1")) << session.screen();
  EXPECT_TRUE(session.shows("ms on rank 1 is")) << session.screen();
  session.press("q");
  demo.expect_a_clean_end(0);
}

TEST_F(TheMonitor, ShowsTheLessonToWhoLooksOn) {
  TmuxSession session(120, 40), other(120, 40);
  Demo demo(session, "core-bound");
  other.run("export IDLEWAVE_DIR=" + session.folder() + "/sessions");
  other.run(IDLEWAVE_PROGRAM " attach --view $(" IDLEWAVE_PROGRAM " attach); echo code $?");
  ASSERT_TRUE(other.shows("LESSON 1 of")) << other.screen();
  EXPECT_THAT(other.screen(), Not(HasSubstr("Enter answer")));
  session.press("Enter");
  session.type("a");
  session.press("Enter");
  EXPECT_TRUE(other.shows("Press i, Enter and y")) << other.screen();
  other.press("Enter");
  EXPECT_TRUE(other.shows("whoever gives the lesson turns its pages")) << other.screen();
  other.press("q");
  EXPECT_TRUE(other.shows("code 0")) << other.screen();
  session.press("q");
  demo.expect_a_clean_end(0);
}

TEST_F(TheMonitor, ListsItsKeysAndFitsEveryWindow) {
  TmuxSession session;
  Demo demo(session);
  session.press("?");
  EXPECT_TRUE(session.shows("start, stop recording")) << session.screen();
  session.press("?");
  for (const auto& [columns, rows] : {std::pair{20, 5}, std::pair{12, 2}, std::pair{400, 120}, std::pair{80, 24}}) {
    session.resize(columns, rows);
    EXPECT_TRUE(session.shows("of 4")) << columns << "x" << rows << "\n" << session.screen();
  }
  session.press("q");
  demo.expect_a_clean_end(0);
}

TEST_F(TheMonitor, RecordsByAKey) {
  TmuxSession session(120, 40);
  session.run("cd " + session.folder());
  Demo demo(session);
  session.press("r");
  ASSERT_TRUE(session.shows("rec ")) << session.screen();
  session.press("r");
  ASSERT_TRUE(session.shows("recorded")) << session.screen();
  session.press("q");
  demo.expect_a_clean_end(0);
  EXPECT_THAT(session.output_of("ls"), HasSubstr(".iw"));
}

struct Ending {
  const char* victim;
  int signal;
  int code;
};
void PrintTo(const Ending& ending, std::ostream* out) { *out << ending.victim << " by " << strsignal(ending.signal); }

class TheMonitorEnds : public TheMonitor, public testing::WithParamInterface<Ending> {};

TEST_P(TheMonitorEnds, AndTheTerminalIsAsBefore) {
  TmuxSession session;
  Demo demo(session);
  for (const pid_t pid : demo.pids(GetParam().victim)) kill(pid, GetParam().signal);
  demo.expect_a_clean_end(GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(Signals, TheMonitorEnds,
                         testing::Values(Ending{"idlewave", SIGTERM, 143}, Ending{"idlewave", SIGINT, 130},
                                         Ending{"idlewave", SIGHUP, 129}, Ending{"idlewave", SIGSEGV, 139},
                                         Ending{"idlewave", SIGKILL, 137}, Ending{"iw-guard", SIGTERM, 143}));

/// The shell goes on before the monitor has left the screen, so that what it says of the end may be lost with it.
TEST_F(TheMonitor, PutsTheTerminalBackWhenItsGuardIsKilled) {
  TmuxSession session;
  Demo demo(session);
  for (const pid_t pid : demo.pids("iw-guard")) kill(pid, SIGKILL);
  demo.expect_everything_as_before();
  EXPECT_EQ(session.output_of("echo still here"), "still here\n");
}

TEST_F(TheMonitor, StopsAndGoesOn) {
  TmuxSession session;
  Demo demo(session);
  session.press("C-z");
  ASSERT_TRUE(session.shows("Stopped")) << session.screen();
  session.run("fg");
  ASSERT_TRUE(session.shows("LIVE")) << session.screen();
  session.press("q");
  EXPECT_TRUE(eventually([&] { return demo.pids("").empty(); })) << "processes are left";
}

TEST_F(TheMonitor, WorksWithoutColoursAndUnicode) {
  TmuxSession session(80, 24, {"NO_COLOR=1", "LC_ALL=C"});
  Demo demo(session);
  const std::string screen = session.screen();
  EXPECT_TRUE(std::all_of(screen.begin(), screen.end(), [](unsigned char c) { return c < 128; })) << screen;
  EXPECT_FALSE(std::regex_search(session.coloured_screen(), std::regex("[;[][34][0-8][;m]")));
  session.press("q");
  demo.expect_a_clean_end(0);
}

/// `idlewave run` of a script in a terminal: what it prints before and after its report, and its exit code, are its
/// own.
class HostedRun {
 public:
  HostedRun(TmuxSession& session, const std::string& script, const std::string& options = "--record s.iw")
      : session_(session), tag_("IDLEWAVE_DIR=" + session.folder() + "/sessions") {
    session_.run("cd " + session_.folder() + "; export " + tag_);
    before_ = session_.state();
    session_.run(IDLEWAVE_PROGRAM " run --session hosted " + options + " -- sh -c '" + script + "'; echo code $?");
    EXPECT_TRUE(session_.shows("LIVE")) << session_.screen();
  }

  std::vector<pid_t> pids(const std::string& name) const { return pids_of(tag_, name); }
  void expect_code(int code) { EXPECT_TRUE(session_.shows("code " + std::to_string(code))) << session_.screen(); }
  void expect_the_terminal_as_before() { EXPECT_EQ(session_.state(), before_); }
  fs::path file(const std::string& name) const { return fs::path(session_.folder()) / name; }
  bool ends() const {
    return eventually([&] { return pids("iw-host").empty(); });
  }

 private:
  TmuxSession& session_;
  std::string tag_;
  std::string before_;
};

constexpr const char* kLong = "echo at first; " IDLEWAVE_REPORTER " 1500; echo at last; echo result > result; exit 7";
constexpr const char* kShort = "echo at first; " IDLEWAVE_REPORTER " 250; echo at last; echo result > result; exit 7";

TEST_F(TheMonitor, AsksBeforeItEndsAProgram) {
  TmuxSession session(120, 30);
  HostedRun run(session, kLong);
  session.press("q");
  ASSERT_TRUE(session.shows("end sh and its 1 rank? y/n")) << session.screen();
  session.press("n");
  session.press("q");
  session.press("y");
  run.expect_code(143);  // sh, by SIGTERM
  EXPECT_TRUE(run.ends());
  EXPECT_FALSE(fs::exists(run.file("result")));
  run.expect_the_terminal_as_before();
}

TEST_F(TheMonitor, AsksBeforeCtrlCEndsAProgram) {
  TmuxSession session(120, 30);
  HostedRun run(session, kShort);
  session.press("C-c");
  ASSERT_TRUE(session.shows("d leaves it running")) << session.screen();
  session.press("n");
  ASSERT_TRUE(session.shows("ended with code 7")) << session.screen();
  session.press("q");
  run.expect_code(7);
}

TEST_F(TheMonitor, ShowsWhatTheProgramPrintedWhenTheScreenCloses) {
  TmuxSession session(120, 30);
  HostedRun run(session, kShort);
  ASSERT_TRUE(session.shows("ended with code 7")) << session.screen();
  session.press("q");
  run.expect_code(7);
  EXPECT_TRUE(session.shows("at first\nat last\n")) << session.screen();
  EXPECT_THAT(session.screen(), HasSubstr("sh ended with code 7"));
  run.expect_the_terminal_as_before();
}

TEST_F(TheMonitor, LeavesAProgramAndComesBack) {
  TmuxSession session(120, 30);
  HostedRun run(session, kLong);
  session.press("d");
  run.expect_code(0);
  EXPECT_TRUE(session.shows("will be in hosted.out")) << session.screen();
  EXPECT_THAT(session.screen(), HasSubstr("idlewave attach hosted"));
  session.run("clear; " IDLEWAVE_PROGRAM " attach hosted; echo left");
  ASSERT_TRUE(session.shows("● rec")) << session.screen();
  session.press("q");
  EXPECT_TRUE(session.shows("hosted goes on; the same call shows it again\nleft")) << session.screen();
  EXPECT_FALSE(run.pids("iw-host").empty());
  EXPECT_TRUE(eventually([&] { return fs::exists(run.file("result")); }));
  EXPECT_TRUE(run.ends());
  EXPECT_EQ(file_text(run.file("hosted.out")), "at first\nat last\n");
}

TEST_F(TheMonitor, LeavesAProgramThatHasToldNothingYet) {
  TmuxSession session(120, 30);
  session.run("cd " + session.folder() + "; export IDLEWAVE_DIR=" + session.folder() + "/sessions");
  session.run(IDLEWAVE_PROGRAM " run --session silent -- sh -c 'until test -e over; do sleep 0.1; done'; echo code $?");
  ASSERT_TRUE(session.shows("q quit")) << session.screen();
  session.press("d");
  ASSERT_TRUE(session.shows("code 0")) << session.screen();
  session.run("clear; " IDLEWAVE_PROGRAM " attach silent; echo code $?");
  ASSERT_TRUE(session.shows("q quit")) << session.screen();
  session.press("q");
  ASSERT_TRUE(session.shows("code 0")) << session.screen();
  EXPECT_THAT(session.screen(), HasSubstr("silent goes on; the same call shows it again"));
  session.output_of("touch over");
  EXPECT_TRUE(eventually([&] { return pids_of("IDLEWAVE_DIR=" + session.folder() + "/sessions", "iw-host").empty(); }));
}

TEST_F(TheMonitor, LeavesARecordingRunningThatAKeyBegan) {
  TmuxSession session(120, 30);
  HostedRun run(session, kLong, "");
  session.press("r");
  ASSERT_TRUE(session.shows("● rec ")) << session.screen();
  session.press("d");
  run.expect_code(0);
  EXPECT_TRUE(run.ends());
  EXPECT_THAT(session.output_of("cd " + session.folder() + "; " IDLEWAVE_PROGRAM " info hosted.iw"),
              AllOf(HasSubstr("closed          true"), HasSubstr("ranks           1")));
  EXPECT_THAT(session.output_of(IDLEWAVE_PROGRAM " report hosted.iw"),
              testing::ContainsRegex("(1500 steps|steps [0-9]+ to 1499), "))
      << "it may have begun after the first";
}

TEST_F(TheMonitor, IsClosedWithItsTerminalAndTheProgramGoesOn) {
  TmuxSession session(120, 30);
  HostedRun run(session, kShort);
  session.close();
  EXPECT_TRUE(eventually([&] { return fs::exists(run.file("result")); }));
  EXPECT_TRUE(run.ends());
  EXPECT_GT(fs::file_size(run.file("s.iw")), 500u);
}

TEST_F(TheMonitor, IsKilledAndTheProgramGivesItsCode) {
  TmuxSession session(120, 30);
  HostedRun run(session, kShort);
  for (const pid_t pid : run.pids("idlewave")) kill(pid, SIGKILL);
  ASSERT_TRUE(session.shows("goes on, and is waited for")) << session.screen();
  run.expect_code(7);
  EXPECT_THAT(session.screen(), HasSubstr("at first\nat last\n"));
  run.expect_the_terminal_as_before();
}

TEST_F(TheMonitor, LeavesTheKeysAloneThatAProgramWouldRead) {
  TmuxSession session(120, 30);
  HostedRun run(session, "cat > typed; " IDLEWAVE_REPORTER " 250");
  session.press("h");
  ASSERT_TRUE(session.shows("ended with code 0")) << session.screen();
  session.press("q");
  run.expect_code(0);
  EXPECT_EQ(file_text(run.file("typed")), "");
}

TEST_F(TheMonitor, LooksAtItsKeysWhileALongRecordingLoads) {
  TmuxSession session(120, 30);
  const std::string before = session.state();
  session.output_of(IDLEWAVE_WRITE_SLOW_SESSION " " + session.folder() + "/slow.iw");
  session.run(IDLEWAVE_PROGRAM " replay " + session.folder() + "/slow.iw --from 1min; echo code $?");
  ASSERT_TRUE(session.shows("LOADING")) << session.screen();
  session.press("?");
  ASSERT_TRUE(session.shows("any other key closes this")) << session.screen();
  session.press("x");
  ASSERT_TRUE(session.shows("LOADING")) << "keys were looked at only when all was loaded\n" << session.screen();
  session.press("q");
  ASSERT_TRUE(session.shows("code 0")) << session.screen();
  EXPECT_EQ(session.state(), before);
}

TEST_F(TheMonitor, LeavesTheScreenWhereARecordingEndsBeforeItIsToBegin) {
  TmuxSession session(120, 30);
  const std::string before = session.state();
  session.run(IDLEWAVE_PROGRAM " replay " IDLEWAVE_GOLDEN_SESSION " --from 100h; echo code $?");
  ASSERT_TRUE(session.shows("code 2")) << session.screen();
  EXPECT_THAT(session.screen(), HasSubstr("past the end; the recording goes to 0.250 s"));
  EXPECT_EQ(session.state(), before);
}

TEST_F(TheMonitor, SaysHowFarItHasReadARecordingAndTakesThatAway) {
  TmuxSession session(120, 30);
  // Under a sanitizer the whole of it would be read for minutes.
  const std::string ranks = tests::kSanitized ? " 2000" : "";
  session.output_of(IDLEWAVE_WRITE_SLOW_SESSION " " + session.folder() + "/slow.iw" + ranks);
  session.run("clear; " IDLEWAVE_PROGRAM " report " + session.folder() + "/slow.iw > /dev/null; echo code $?");
  ASSERT_TRUE(session.shows("slow.iw: ")) << session.screen();
  EXPECT_TRUE(session.shows(" s left")) << session.screen();
  ASSERT_TRUE(session.shows("code 0")) << session.screen();
  EXPECT_THAT(session.screen(), Not(HasSubstr("reading")));
}

}  // namespace
}  // namespace idlewave::tty
