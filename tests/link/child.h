#pragma once
// A real process beside the test: run, stopped, killed, waited for.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "tests/outlet/scratch.h"

namespace idlewave {

class Child {
 public:
  /// Forks; the child ends with what `run` returns. Make no ZeroMQ socket before: a fork must not carry one along.
  template <class Run>
  explicit Child(Run run) : pid_(fork()) {
    if (pid_ == 0) _exit(run());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (running()) kill(SIGKILL);
    waitpid(pid_, &status_, 0);
  }

  void kill(int signal) { ::kill(pid_, signal); }
  bool running() {
    if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return !ended_;
  }
  /// What the child returned; -1 if it was killed, -2 if it hangs.
  int wait() {
    if (!run_until([] { usleep(1000); }, [this] { return !running(); })) return -2;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
  }

 private:
  pid_t pid_;
  int status_ = 0;
  bool ended_ = false;
};

/// One line from one process to another.
class LinePipe {
 public:
  LinePipe() {
    if (pipe(ends_) != 0) abort();
  }
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;
  ~LinePipe() {
    close(ends_[0]);
    close(ends_[1]);
  }
  void write(const std::string& line) const {
    if (::write(ends_[1], (line + "\n").data(), line.size() + 1) < 0) abort();
  }
  std::string read() const {
    std::string line;
    for (char c = 0; ::read(ends_[0], &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

 private:
  int ends_[2];
};

}  // namespace idlewave
