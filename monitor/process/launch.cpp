#include "monitor/process/launch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <utility>

#include "monitor/process/exec.h"
#include "monitor/process/groups.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::process {
namespace {

/// All that the child needs, made before fork(): between fork() and exec() nothing may be allocated.
struct Plan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* directory;
  int output_fd;
  int results_fd;
  int report_fd;
  pid_t owner;
};

bool redirect(const Plan& plan) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) return false;
  const int results = plan.results_fd < 0 ? plan.output_fd : plan.results_fd;
  return (results < 0 || ::dup2(results, STDOUT_FILENO) >= 0) &&
         (plan.output_fd < 0 || ::dup2(plan.output_fd, STDERR_FILENO) >= 0);
}

[[noreturn]] void fail(const Plan& plan) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(plan.report_fd, &reason, sizeof reason);
  ::_exit(127);
}

[[noreturn]] void become(const Plan& plan, pid_t keeper) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != keeper) ::_exit(signals::exit_code_of(SIGTERM));  // it died before the kernel knew that we care
  restore_what_was_inherited();
  if (redirect(plan) && (*plan.directory == '\0' || ::chdir(plan.directory) == 0))
    ::execvpe(plan.argv[0], plan.argv.data(), plan.environment.data());
  fail(plan);
}

/// What the kernel tells a keeper by when one of its owner's threads ends.
constexpr int kThreadEnded = SIGUSR1;

/// Stands between the program and its owner, in the program's group, and ends with either. The kernel signals the
/// children of a process that dies once for each thread they are handed on to; mpirun takes a second SIGTERM for the
/// order to drop everything, and leaves its shared memory behind. A keeper has one thread, so its child gets one.
[[noreturn]] void keep(const Plan& plan) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::signal(SIGCHLD, SIG_DFL);
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "iw-keeper");
  ::prctl(PR_SET_PDEATHSIG, kThreadEnded);
  const pid_t keeper = ::getpid();
  const pid_t program = ::fork();
  if (program < 0) fail(plan);
  if (program == 0) become(plan, keeper);
  ::closefrom(0);
  while (::getppid() == plan.owner) {
    siginfo_t what;
    ::sigwaitinfo(&all, &what);
    int status = 0;
    if (::waitpid(program, &status, WNOHANG) == program) ::_exit(exit_code_from(status));
  }
  ::_exit(signals::exit_code_of(SIGTERM));
}

}  // namespace

wire::Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options) {
  assert(!argv.empty());
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return cant_start(argv[0], errno);
  const std::vector<std::string> environment = merged_environment(options.environment);
  const Plan plan{pointers_to(argv), pointers_to(environment), options.directory.c_str(),
                  options.output_fd, options.results_fd,       report[1],
                  ::getpid()};
  const pid_t child = ::fork();
  const int fork_failure = errno;
  if (child == 0) keep(plan);
  ::close(report[1]);
  if (child > 0) {
    ::setpgid(child, child);  // here as well: whoever is first
    remember_group(child);
  }
  const int failure = child < 0 ? fork_failure : failure_reported(report[0]);
  ::close(report[0]);
  if (failure == 0) return Launched(child);
  if (child > 0) Launched(child).end();
  return cant_start(failure == ENOENT && !options.directory.empty() && ::access(options.directory.c_str(), X_OK) != 0
                        ? options.directory
                        : argv[0],
                    failure);
}

Launched::Launched(Launched&& other) noexcept { *this = std::move(other); }

Launched& Launched::operator=(Launched&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(exit_code_, other.exit_code_);
  std::swap(gone_, other.gone_);
  return *this;
}

Launched::~Launched() { end(); }

std::optional<int> Launched::exit_code() {
  int status = 0;
  if (pid_ > 0 && !exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = exit_code_from(status);
    if (!lives(-pid_)) be_gone();
  }
  return exit_code_;
}

void Launched::end(std::chrono::milliseconds patience) {
  if (gone_) return;
  end_all({-pid_}, patience, [this] { exit_code(); });
  be_gone();
}

void Launched::be_gone() {
  gone_ = true;
  forget_group(pid_);
}

}  // namespace idlewave::process
