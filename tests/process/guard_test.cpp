#include "monitor/process/guard.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "monitor/process/launch.h"
#include "probe/signals/stop_signals.h"

// Without a terminal; what happens on one is in tests/tty.

namespace idlewave::process {
namespace {

/// A guard in a process of its own, since it changes the process it is in; what its body and the programs of that write
/// arrives here.
class Guarded {
 public:
  explicit Guarded(const std::function<int()>& body) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    reader_ = ends[0];
    guard_ = ::fork();
    if (guard_ == 0) {
      ::setsid();  // no terminal, whatever the tests run in
      ::dup2(ends[1], STDOUT_FILENO);
      ::dup2(ends[1], STDERR_FILENO);
      ::_exit(run_guarded({.program = "monitor", .terminal_reset = "reset"}, body));
    }
    ::close(ends[1]);
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() {
    ::close(reader_);
    if (!collected_) exit_code();
  }

  pid_t guard() const { return guard_; }
  std::string line() { return until('\n'); }
  std::string rest() { return until('\0'); }  ///< Returns when every process that could write has ended.
  int exit_code() {
    int status = 0;
    ::waitpid(guard_, &status, 0);
    collected_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

 private:
  std::string until(char stop) const {
    std::string text;
    for (char byte = 0; ::read(reader_, &byte, 1) == 1 && byte != stop;) text += byte;
    return text;
  }
  int reader_;
  pid_t guard_;
  bool collected_ = false;
};

void say(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDOUT_FILENO, (text + "\n").data(), text.size() + 1);
}

int wait_for_a_signal() {
  const signals::StopSignals stop;
  say(std::to_string(::getpid()));
  pollfd poller{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  while (!stop.received()) ::poll(&poller, 1, -1);
  say("signal " + std::to_string(*stop.received()));
  return signals::exit_code_of(*stop.received());
}

TEST(Guard, ReturnsWhatTheBodyReturns) {
  EXPECT_EQ(Guarded([] { return 7; }).exit_code(), 7);
}

TEST(Guard, SaysWhichSignalEndedTheBody) {
  Guarded guarded([] { return ::raise(SIGKILL); });
  EXPECT_EQ(guarded.rest(), "monitor was ended by signal 9 (Killed)\n");
  EXPECT_EQ(guarded.exit_code(), 137);
}

TEST(Guard, PassesEverySignalThatAsksToEndOn) {
  for (const int signal : {SIGTERM, SIGHUP, SIGINT, SIGQUIT}) {
    Guarded guarded(wait_for_a_signal);
    guarded.line();
    ::kill(guarded.guard(), signal);
    EXPECT_EQ(guarded.rest(), "signal " + std::to_string(signal) + "\n");
    EXPECT_EQ(guarded.exit_code(), 128 + signal);
  }
}

TEST(Guard, EndsTheBodyWhenItIsKilledItself) {
  Guarded guarded(wait_for_a_signal);
  guarded.line();
  ::kill(guarded.guard(), SIGKILL);
  EXPECT_EQ(guarded.rest(), "signal 15\n");
}

TEST(Guard, LeavesTheBodyTheSignalsItHad) {
  Guarded guarded([] {
    sigset_t mask;
    ::sigprocmask(SIG_SETMASK, nullptr, &mask);
    return sigisemptyset(&mask);
  });
  EXPECT_EQ(guarded.exit_code(), 1);
}

/// Starts programs and is killed before it can end them.
int die_with_programs() {
  auto quiet = launch({"sh", "-c", "sleep 1000 & echo quiet; wait"});
  auto deaf = launch({"sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1000; done"});
  say("both");
  for (;;) ::pause();
}

TEST(Guard, EndsWhatTheBodyStartedEvenIfItDoesNotListen) {
  Guarded guarded([] {
    say(std::to_string(::getpid()));
    return die_with_programs();
  });
  const pid_t monitor = std::stoi(guarded.line());
  for (int i = 0; i < 3; ++i) guarded.line();  // quiet, deaf, both
  ::kill(monitor, SIGKILL);
  EXPECT_EQ(guarded.rest(),
            "monitor was ended by signal 9 (Killed)\n");  // the end of the pipe: nobody holds it any more
}

/// mpirun, asked a second time, ends without cleaning up.
constexpr const char* kCountsHowOftenItIsAsked =
    "asked=0; trap 'asked=$((asked+1))' TERM; echo started; until [ $asked -gt 0 ]; do sleep 0.01; done; "
    "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.02; done; echo asked $asked";

TEST(Guard, LetsAProgramBeAskedOnceWhenABodyOfManyThreadsIsKilled) {
  for (int run = 0; run < 10; ++run) {
    Guarded guarded([] {
      std::vector<std::jthread> threads;
      for (int i = 0; i < 8; ++i) threads.emplace_back([] { ::pause(); });
      auto program = launch({"bash", "-c", kCountsHowOftenItIsAsked});
      say(std::to_string(::getpid()));
      for (;;) ::pause();
      return 0;
    });
    pid_t monitor = 0;
    for (int i = 0; i < 2; ++i)
      if (const std::string line = guarded.line(); line != "started") monitor = std::stoi(line);
    ::kill(monitor, SIGKILL);
    const std::string rest = guarded.rest();
    EXPECT_NE(rest.find("asked 1\n"), std::string::npos) << rest;
  }
}

TEST(Guard, EndsOrphansThatLeftTheirGroup) {
  Guarded guarded([] {
    auto program = launch({"bash", "-c", "set -m; sleep 1000 & echo started; kill -9 $$"});
    while (!program->exit_code()) ::usleep(1000);
    return 0;
  });
  EXPECT_EQ(guarded.rest(), "started\n");  // the end of the pipe: the sleeper has ended
  EXPECT_EQ(guarded.exit_code(), 0);
}

TEST(Guard, LetsDaemonsLive) {
  Guarded guarded([] {
    const signals::StopSignals stop;
    auto program = launch({"sh", "-c", "setsid sh -c 'echo $$; exec sleep 1000' & wait"});
    while (!stop.received()) ::usleep(1000);
    return 0;
  });
  const pid_t daemon = std::stoi(guarded.line());
  ::kill(guarded.guard(), SIGTERM);
  EXPECT_EQ(guarded.exit_code(), 0);
  EXPECT_EQ(::kill(daemon, 0), 0);
  ::kill(daemon, SIGKILL);
}

TEST(Guard, HasANameOfItsOwn) {
  Guarded guarded(wait_for_a_signal);
  guarded.line();
  std::string path = "/proc/" + std::to_string(guarded.guard()) + "/comm";
  char name[32] = {};
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_GT(::read(fd, name, sizeof name - 1), 0);
  ::close(fd);
  ::kill(guarded.guard(), SIGTERM);
  EXPECT_STREQ(name, "iw-guard\n");
}

}  // namespace
}  // namespace idlewave::process
