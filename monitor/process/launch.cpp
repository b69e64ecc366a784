#include "monitor/process/launch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "monitor/process/groups.h"
#include "monitor/process/stop_signals.h"

namespace idlewave::process {
namespace {

std::string install_hint(std::string_view program) {
  struct Package {
    std::string_view program, name;
  };
  static constexpr Package kKnown[] = {{"mpirun", "openmpi-bin"},         {"mpiexec", "openmpi-bin"},
                                       {"mpirun.openmpi", "openmpi-bin"}, {"mpiexec.openmpi", "openmpi-bin"},
                                       {"mpirun.mpich", "mpich"},         {"mpiexec.mpich", "mpich"},
                                       {"mpiexec.hydra", "mpich"},        {"srun", "slurm-client"}};
  for (const Package& known : kKnown)
    if (known.program == program) return ": install it (apt-get install " + std::string(known.name) + ")";
  return ": check the name, or give its full path";
}

wire::Error cant_start(const std::string& program, int reason) {
  if (reason == ENOENT) return {program + ": not found" + install_hint(program)};
  if (reason == EACCES)
    return {program + ": can't be executed (" + std::strerror(reason) + "): check its permissions (chmod +x)"};
  return {program + ": can't be started: " + std::strerror(reason)};
}

bool same_name(std::string_view a, std::string_view b) { return a.substr(0, a.find('=')) == b.substr(0, b.find('=')); }

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> merged = added;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    bool replaced = false;
    for (const std::string& other : added) replaced |= same_name(*entry, other);
    if (!replaced) merged.emplace_back(*entry);
  }
  return merged;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// All that the child needs, made before fork(): between fork() and exec() nothing may be allocated.
struct Plan {
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* directory;
  int output_fd;
  int report_fd;
  pid_t owner;
};

void restore_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) ::signal(signal, SIG_DFL);
  }
  // Those that we ignore for ourselves.
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool redirect(const Plan& plan) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) return false;
  return plan.output_fd < 0 ||
         (::dup2(plan.output_fd, STDOUT_FILENO) >= 0 && ::dup2(plan.output_fd, STDERR_FILENO) >= 0);
}

[[noreturn]] void fail(const Plan& plan) {
  const int reason = errno;
  [[maybe_unused]] const ssize_t told = ::write(plan.report_fd, &reason, sizeof reason);
  ::_exit(127);
}

[[noreturn]] void become(const Plan& plan, pid_t keeper) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != keeper) ::_exit(exit_code_of(SIGTERM));  // it died before the kernel knew that we care
  restore_signals();
  if (redirect(plan) && (*plan.directory == '\0' || ::chdir(plan.directory) == 0))
    ::execvpe(plan.argv[0], plan.argv.data(), plan.environment.data());
  fail(plan);
}

int code_of(int status) { return WIFSIGNALED(status) ? exit_code_of(WTERMSIG(status)) : WEXITSTATUS(status); }

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
    if (::waitpid(program, &status, WNOHANG) == program) ::_exit(code_of(status));
  }
  ::_exit(exit_code_of(SIGTERM));
}

/// The reason why exec() failed, 0 if it did not: then the pipe has closed without a word.
int failure_reported(int fd) {
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(fd, &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  return got == sizeof reason ? reason : 0;
}

}  // namespace

wire::Result<Launched> launch(const std::vector<std::string>& argv, const LaunchOptions& options) {
  assert(!argv.empty());
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return cant_start(argv[0], errno);
  const std::vector<std::string> environment = merged_environment(options.environment);
  const Plan plan{pointers_to(argv), pointers_to(environment), options.directory.c_str(), options.output_fd, report[1],
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
    exit_code_ = code_of(status);
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
