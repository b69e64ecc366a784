#include "monitor/process/launch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

namespace idlewave::process {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

/// A pipe whose end tells that every process that holds it has ended.
class Output {
 public:
  Output() { EXPECT_EQ(::pipe2(ends_, O_CLOEXEC), 0); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { ::close(ends_[0]), close_writer(); }
  int writer() const { return ends_[1]; }
  /// Up to the first line feed, or to the end.
  std::string line() {
    return until([](char byte) { return byte == '\n'; });
  }
  std::string rest() {
    return until([](char) { return false; });
  }

 private:
  template <class Stop>
  std::string until(Stop stop) {
    close_writer();
    std::string text;
    for (char byte = 0; ::read(ends_[0], &byte, 1) == 1 && !stop(byte);) text += byte;
    return text;
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }
  int ends_[2] = {-1, -1};
};

std::string output_of(const std::vector<std::string>& argv, LaunchOptions options = {}) {
  Output output;
  options.output_fd = output.writer();
  auto launched = launch(argv, options);
  EXPECT_TRUE(launched);
  return output.rest();
}

std::string complaint_about(const std::vector<std::string>& argv, const LaunchOptions& options = {}) {
  auto launched = launch(argv, options);
  return launched ? "none" : launched.error().message;
}

int exit_code_of_command(const std::string& command) {
  auto launched = launch({"sh", "-c", command});
  EXPECT_TRUE(launched);
  while (!launched->exit_code()) std::this_thread::sleep_for(5ms);
  return *launched->exit_code();
}

TEST(Launch, CollectsOutputAndErrors) { EXPECT_EQ(output_of({"sh", "-c", "echo out; echo err >&2"}), "out\nerr\n"); }

TEST(Launch, AddsToTheEnvironmentAndReplacesInIt) {
  ::setenv("IDLEWAVE_TEST", "old", 1);
  EXPECT_EQ(output_of({"sh", "-c", "echo $IDLEWAVE_TEST $IDLEWAVE_MORE"},
                      {.environment = {"IDLEWAVE_TEST=new", "IDLEWAVE_MORE=more"}}),
            "new more\n");
}

TEST(Launch, StartsInTheFolder) { EXPECT_EQ(output_of({"pwd"}, {.directory = "/"}), "/\n"); }

TEST(Launch, GivesTheProgramNothingToRead) { EXPECT_EQ(output_of({"cat"}), ""); }

TEST(Launch, GivesTheProgramAGroupOfItsOwn) {
  Output output;
  auto launched = launch({"sleep", "1000"}, {.output_fd = output.writer()});
  ASSERT_TRUE(launched);
  EXPECT_EQ(::getpgid(launched->pid()), launched->pid());
}

TEST(Launch, HandsNoBlockedSignalsOn) {
  sigset_t all;
  sigfillset(&all);
  sigset_t before;
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const std::string blocked = output_of({"grep", "SigBlk", "/proc/self/status"});
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(blocked, "SigBlk:\t0000000000000000\n");
}

TEST(Launch, ReportsTheExitCode) { EXPECT_EQ(exit_code_of_command("exit 7"), 7); }

TEST(Launch, ReportsASignalAsShellsDo) { EXPECT_EQ(exit_code_of_command("kill -9 $$"), 137); }

TEST(Launch, NamesAProgramThatIsNotThere) {
  EXPECT_THAT(complaint_about({"no-such-program"}), StartsWith("no-such-program: not found"));
}

TEST(Launch, NamesThePackageOfALauncherThatIsNotThere) {
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::string complaint = complaint_about({"mpirun", "-n", "2"});
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(complaint, "mpirun: not found: install it (apt-get install openmpi-bin)");
}

TEST(Launch, NamesAFileThatIsNoProgram) {
  EXPECT_THAT(complaint_about({"/etc/passwd"}), HasSubstr("/etc/passwd: can't be executed (Permission denied)"));
}

TEST(Launch, SaysThatAFolderIsNoProgram) { EXPECT_EQ(complaint_about({"/etc"}), "/etc: is a folder, no program"); }

TEST(Launch, DoesNotCallAProgramMissingThatIsThereButItsInterpreter) {
  char path[] = "/tmp/idlewave-script-XXXXXX";
  const int file = ::mkstemp(path);
  ASSERT_EQ(::write(file, "#!/nowhere\n", 11), 11);
  ::fchmod(file, 0700);
  ::close(file);
  EXPECT_THAT(complaint_about({path}), HasSubstr("the interpreter in its first line"));
  ::unlink(path);
}

TEST(Launch, NamesAFolderThatIsNotThere) {
  EXPECT_THAT(complaint_about({"pwd"}, {.directory = "/nowhere"}), StartsWith("/nowhere: not found"));
}

TEST(Launch, EndsTheWholeGroupWithItsOwner) {
  Output output;
  {
    auto launched =
        launch({"sh", "-c", "sleep 1000 & sleep 1000 & echo started; wait"}, {.output_fd = output.writer()});
    ASSERT_TRUE(launched);
    EXPECT_EQ(output.line(), "started");
  }
  EXPECT_EQ(output.rest(), "");  // comes to an end only when all three have ended
}

TEST(Launch, KillsWhatDoesNotListen) {
  Output output;
  auto launched =
      launch({"sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1000; done"}, {.output_fd = output.writer()});
  ASSERT_TRUE(launched);
  EXPECT_EQ(output.line(), "deaf");
  launched->end(50ms);
  EXPECT_EQ(launched->exit_code(), 137);
}

TEST(Launch, EndsAProgramThatIsStopped) {
  auto launched = launch({"sleep", "1000"});
  ASSERT_TRUE(launched);
  ::kill(launched->pid(), SIGSTOP);
  launched->end(60s);
  EXPECT_EQ(launched->exit_code(), 143);
}

TEST(Launch, MovesItsDutyToTheNewOwner) {
  auto launched = launch({"sleep", "1000"});
  ASSERT_TRUE(launched);
  const pid_t pid = launched->pid();
  Launched owner = std::move(*launched);
  EXPECT_FALSE(owner.exit_code());
  EXPECT_EQ(owner.pid(), pid);
}

}  // namespace
}  // namespace idlewave::process
