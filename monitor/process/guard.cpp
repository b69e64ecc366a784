#include "monitor/process/guard.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "monitor/process/children.h"
#include "monitor/process/groups.h"
#include "monitor/process/job_terminal.h"
#include "monitor/process/sent_signals.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::process {
namespace {

constexpr auto kPatience = std::chrono::seconds(3);  ///< Between asking programs to end and ending them.

sigset_t every_signal() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

sigset_t signals_of_interest() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    if (is_passed_on(signal)) sigaddset(&set, signal);
  return set;
}

class Guard {
 public:
  /// `others`: children that were there before.
  Guard(const GuardOptions& options, JobTerminal& terminal, const GroupTable* groups, pid_t child,
        std::vector<pid_t> others)
      : options_(options), terminal_(terminal), groups_(groups), child_(child), others_(std::move(others)) {}

  int watch();

 private:
  void pass_on(int signal);
  void collect();
  void stop_with_child(int signal);
  void continue_child();
  void take_terminal_back();
  void report_signal(int signal) const;
  std::vector<pid_t> orphans() const;
  void end_what_is_left();
  int finish();

  const GuardOptions& options_;
  JobTerminal& terminal_;
  const GroupTable* groups_;
  pid_t child_;
  std::vector<pid_t> others_;  ///< That live, or may.
  std::optional<int> ended_;   ///< Wait status of the child.
  bool reset_ = false;         ///< The terminal had to be put back.
};

int Guard::watch() {
  const sigset_t waited_for = signals_of_interest();
  while (!ended_) {
    siginfo_t info;
    const int signal = ::sigwaitinfo(&waited_for, &info);
    if (signal == SIGCHLD)
      collect();
    else if (signal == SIGCONT)
      continue_child();
    else if (signal > 0 && is_by_somebody(signal, info.si_code, info.si_pid))
      pass_on(signal);
  }
  return finish();
}

void Guard::pass_on(int signal) {
  if (options_.takes_signal && options_.takes_signal(signal)) return;
  ::kill(child_, signal);
}

void Guard::collect() {
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0;) {
    if (!WIFSTOPPED(status)) std::erase(others_, pid);
    if (pid != child_) {
      if (options_.on_other_child && !WIFSTOPPED(status)) options_.on_other_child(pid, status);
      continue;
    }
    if (WIFSTOPPED(status))
      stop_with_child(WSTOPSIG(status));
    else
      ended_ = status;
  }
}

/// SIGSTOP is not passed on: in a group that nobody can continue, the kernel would honour it and discard the others.
void Guard::stop_with_child(int signal) {
  take_terminal_back();
  const int how = signal == SIGSTOP ? SIGTSTP : signal;
  ::kill(0, how);
  let_act(how);
  terminal_.remember_modes();
  continue_child();
}

void Guard::continue_child() {
  if (terminal_.in_foreground(::getpgrp())) terminal_.give_to(child_);
  ::kill(-child_, SIGCONT);
}

void Guard::take_terminal_back() {
  if (terminal_.in_foreground(child_)) terminal_.give_to(::getpgrp());
  reset_ = !terminal_.is_somebody_elses() && terminal_.restore_modes();
  if (reset_) terminal_.write(options_.terminal_reset);
}

void Guard::report_signal(int signal) const {
  std::fprintf(stderr, "%s was ended by signal %d (%s)%s\n", options_.program.c_str(), signal, ::strsignal(signal),
               reset_ ? "; the terminal has been restored" : "");
}

/// Processes whose parent died below us and that did not become daemons. As the subreaper we have inherited them.
std::vector<pid_t> Guard::orphans() const {
  std::vector<pid_t> orphans = children_of_ours();
  std::erase_if(orphans, [this](pid_t pid) {
    return ::getsid(pid) != ::getsid(0) || std::ranges::find(others_, pid) != others_.end();
  });
  return orphans;
}

void Guard::end_what_is_left() {
  std::vector<pid_t> groups = groups_ == nullptr ? std::vector<pid_t>{} : groups_->all();
  for (pid_t& group : groups) group = -group;
  const auto collecting = [this] { collect(); };
  // Those of a child that was killed have been asked already, by the kernel (launch.cpp).
  if (WIFSIGNALED(*ended_)) gone_within(kPatience, groups, collecting);
  end_all(groups, kPatience, collecting);
  end_all(orphans(), kPatience, collecting);
}

int Guard::finish() {
  take_terminal_back();
  const bool by_signal = WIFSIGNALED(*ended_);
  if (by_signal) report_signal(WTERMSIG(*ended_));
  end_what_is_left();
  return by_signal ? signals::exit_code_of(WTERMSIG(*ended_)) : WEXITSTATUS(*ended_);
}

/// The child's life. Signals are still blocked when it begins.
[[noreturn]] void live_guarded(pid_t guard, JobTerminal& terminal, const sigset_t& signals,
                               const std::function<int()>& body) {
  const pid_t guards_group = ::getpgrp();
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != guard) std::_Exit(signals::exit_code_of(SIGTERM));  // it died before the kernel knew that we care
  if (terminal.in_foreground(guards_group)) terminal.give_to(::getpid());
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  const int code = body();
  const sigset_t all = every_signal();
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // nobody else is left to do it
  if (::getppid() != guard && terminal.in_foreground(::getpid())) terminal.give_to(guards_group);
  std::exit(code);
}

}  // namespace

int run_guarded(const GuardOptions& options, const std::function<int()>& body) {
  std::fflush(nullptr);
  const sigset_t all = every_signal();
  sigset_t before;
  ::sigprocmask(SIG_SETMASK, &all, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  JobTerminal terminal;
  const GroupTable* groups = share_group_table();
  std::vector<pid_t> others = children_of_ours();
  const pid_t guard = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) live_guarded(guard, terminal, before, body);
  if (child < 0) {
    std::fprintf(stderr, "%s: can't start a process: %s\n", options.program.c_str(), std::strerror(errno));
    return 1;
  }
  ::prctl(PR_SET_NAME, "iw-guard");
  return Guard(options, terminal, groups, child, std::move(others)).watch();
}

}  // namespace idlewave::process
