#include "monitor/process/program.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <csignal>

#include "monitor/process/exec.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::process {
namespace {

/// dup2() onto the same number would leave a close-on-exec flag on it.
bool put(int fd, int place) {
  if (fd < 0) return true;
  return fd == place ? ::fcntl(fd, F_SETFD, 0) == 0 : ::dup2(fd, place) >= 0;
}

void end_with(pid_t owner) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != owner) ::_exit(signals::exit_code_of(SIGTERM));  // It died before the kernel knew that we care.
}

/// Between fork() and exec(): nothing may be allocated.
[[noreturn]] void become(char* const* argv, char* const* environment, const ProgramOptions& options, int report_fd,
                         pid_t owner) {
  if (options.is_part_of_us || options.ends_with_us) end_with(owner);
  if (!options.is_part_of_us) ::setpgid(0, 0);
  restore_what_was_inherited();
  if (put(options.input_fd, STDIN_FILENO) && put(options.output_fd, STDOUT_FILENO) &&
      put(options.error_fd, STDERR_FILENO))
    ::execvpe(argv[0], argv, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(report_fd, &reason, sizeof reason);
  ::_exit(127);
}

/// With every signal blocked, so that none meets the child before it has put them back.
pid_t fork_undisturbed(char* const* argv, char* const* environment, const ProgramOptions& options, int report_fd) {
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t owner = ::getpid(), child = ::fork();
  if (child == 0) become(argv, environment, options, report_fd, owner);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  return child;
}

}  // namespace

std::variant<Program, Program::NotStarted> Program::start(const std::vector<std::string>& argv,
                                                          const ProgramOptions& options) {
  assert(!argv.empty());
  const auto not_started = [&](int reason) {
    return NotStarted{cant_start(argv[0], reason), reason == ENOENT ? 127 : 126};
  };
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return not_started(errno);
  const std::vector<std::string> environment = merged_environment(options.environment);
  const std::vector<char*> words = pointers_to(argv), variables = pointers_to(environment);
  const pid_t child = fork_undisturbed(words.data(), variables.data(), options, report[1]);
  const int fork_failure = errno;
  ::close(report[1]);
  if (child > 0 && !options.is_part_of_us) ::setpgid(child, child);  // here as well: whoever is first
  const int failure = child < 0 ? fork_failure : failure_reported(report[0]);
  ::close(report[0]);
  if (failure == 0) return Program(child);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return not_started(failure);
}

std::optional<int> Program::wait_status() {
  int status = 0;
  if (!wait_status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) wait_status_ = status;
  return wait_status_;
}

std::optional<int> Program::exit_code() {
  const std::optional<int> status = wait_status();
  return status ? std::optional(exit_code_from(*status)) : std::nullopt;
}

}  // namespace idlewave::process
