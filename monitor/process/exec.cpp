#include "monitor/process/exec.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "monitor/process/sent_signals.h"
#include "probe/signals/stop_signals.h"

namespace idlewave::process {
namespace {

constexpr rlim_t kMostDescriptors = 65536;

struct Inherited {
  std::array<bool, NSIG> ignored{};
  sigset_t mask{};
  std::optional<rlimit> descriptors;
};
Inherited inherited;  // Read between fork() and exec(), where nothing but plain memory may be looked at.

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

bool same_name(std::string_view a, std::string_view b) { return a.substr(0, a.find('=')) == b.substr(0, b.find('=')); }

void raise_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kMostDescriptors) return;
  inherited.descriptors = limit;
  limit.rlim_cur = std::min(limit.rlim_max, kMostDescriptors);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

}  // namespace

void remember_what_was_inherited() {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action {};
    inherited.ignored[std::size_t(signal)] = ::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
  }
  ::sigprocmask(SIG_SETMASK, nullptr, &inherited.mask);
  if (was_ignored(SIGCHLD)) ::signal(SIGCHLD, SIG_DFL);  // else the kernel keeps no exit codes for us
  raise_descriptors();
}

bool was_ignored(int signal) { return inherited.ignored[std::size_t(signal)]; }

void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest number that is free: those before are taken by now. Who prints shall learn that nobody can read it.
    if (::fcntl(stream, F_GETFD) < 0) [[maybe_unused]]
      const int taken = ::open("/dev/null", (stream == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC);
  }
}

std::vector<int> handed_down() {
  std::vector<int> descriptors;
  std::error_code failure;
  std::filesystem::directory_iterator all("/proc/self/fd", failure);
  for (; !failure && all != std::filesystem::directory_iterator(); all.increment(failure)) {
    const int fd = std::atoi(all->path().filename().c_str());
    const int flags = fcntl(fd, F_GETFD);
    if (fd > STDERR_FILENO && flags >= 0 && (flags & FD_CLOEXEC) == 0) descriptors.push_back(fd);
  }
  return descriptors;
}

void let_go_of_stream(int stream) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(nothing, stream);
  ::close(nothing);
}

void let_go_of(const std::vector<int>& descriptors) {
  for (const int fd : descriptors) close(fd);
}

void restore_what_was_inherited() {
  for (int signal = 1; signal < NSIG; ++signal)
    ::signal(signal, inherited.ignored[std::size_t(signal)] ? SIG_IGN : SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &inherited.mask, nullptr);
  if (inherited.descriptors) ::setrlimit(RLIMIT_NOFILE, &*inherited.descriptors);
}

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

wire::Error cant_start(const std::string& program, int reason) {
  if (reason == ENOENT && program.find('/') != std::string::npos && ::access(program.c_str(), F_OK) == 0)
    return {program +
            ": what it names to run it is not found: the interpreter in its first line, or a binary's linker"};
  if (reason == ENOENT) return {program + ": not found" + install_hint(program)};
  if (reason == EACCES && is_folder(program)) return {program + ": is a folder, no program"};
  if (reason == EACCES)
    return {program + ": can't be executed (" + std::strerror(reason) + "): check its permissions (chmod +x)"};
  return {program + ": can't be started: " + std::strerror(reason)};
}

int failure_reported(int fd) {
  int reason = 0;
  ssize_t got = 0;
  while ((got = ::read(fd, &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  return got == sizeof reason ? reason : 0;
}

int exit_code_from(int wait_status) {
  return WIFSIGNALED(wait_status) ? signals::exit_code_of(WTERMSIG(wait_status)) : WEXITSTATUS(wait_status);
}

void end_by(int signal) {
  std::fflush(nullptr);
  ::prctl(PR_SET_DUMPABLE, 0);
  ::signal(signal, SIG_DFL);
  ::raise(signal);
  let_act(signal);
}

}  // namespace idlewave::process
