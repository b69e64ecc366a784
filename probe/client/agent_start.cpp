#include "probe/client/agent_start.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace idlewave::client {
namespace {

constexpr const char* kProgram = "idlewave-agent";
constexpr std::size_t kHelperStack = 64 * 1024;

struct Start {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const Deadline* deadline;
  bool succeeded;
};

/// Writes "<folder of file>/<below>/idlewave-agent" if that can be run.
bool find_beside(const char* file, const char* below, char (&out)[PATH_MAX]) {
  const char* slash = strrchr(file, '/');
  if (slash == nullptr) return false;
  const int length = snprintf(out, sizeof out, "%.*s/%s%s", static_cast<int>(slash - file), file, below, kProgram);
  return length > 0 && static_cast<std::size_t>(length) < sizeof out && access(out, X_OK) == 0;
}

bool find_beside_library(char (&out)[PATH_MAX]) {
  Dl_info library;
  if (dladdr(reinterpret_cast<const void*>(&start_agent), &library) == 0 || library.dli_fname == nullptr) return false;
  char file[PATH_MAX];
  if (realpath(library.dli_fname, file) == nullptr) return false;
  return find_beside(file, "", out) || find_beside(file, "../bin/", out);
}

bool find_beside_program(char (&out)[PATH_MAX]) {
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) return false;
  program[length] = '\0';
  return find_beside(program, "", out) || find_beside(program, "../bin/", out);
}

/// The program to run; a name without a slash is looked for in PATH.
const char* agent_path(char (&buffer)[PATH_MAX]) {
  const char* chosen = getenv("IDLEWAVE_AGENT");
  if (chosen != nullptr && chosen[0] != '\0') return chosen;
  return find_beside_library(buffer) || find_beside_program(buffer) ? buffer : kProgram;
}

/// The host's environment without what was meant for the host alone. The caller frees the array.
char** agent_environment() {
  std::size_t count = 0;
  while (environ[count] != nullptr) ++count;
  auto** out = static_cast<char**>(malloc((count + 1) * sizeof(char*)));
  if (out == nullptr) return nullptr;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0) out[kept++] = environ[i];
  }
  out[kept] = nullptr;
  return out;
}

bool describe_files(posix_spawn_file_actions_t& files) {
  return posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
         posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
         posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
         posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1) == 0;
}

bool describe_signals(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  return posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0 &&
         posix_spawnattr_setsigmask(&attributes, &none) == 0 && posix_spawnattr_setsigdefault(&attributes, &all) == 0;
}

bool spawn(const Start& start, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  posix_spawnattr_init(&attributes);
  const bool spawned = describe_files(files) && describe_signals(attributes) &&
                       posix_spawnp(&pid, start.path, &files, &attributes, start.arguments, start.environment) == 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return spawned;
}

/// True if the program ended with 0 in time; one that does not end is ended.
bool wait_for_success(pid_t pid, const Deadline& deadline) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (ended < 0) return false;
    if (!deadline.wait_a_little()) break;
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return false;
}

int run_helper(void* argument) {
  auto& start = *static_cast<Start*>(argument);
  pid_t pid = 0;
  start.succeeded = spawn(start, pid) && wait_for_success(pid, *start.deadline);
  return 0;
}

/// Lets a helper process be the agent's parent: it shares our memory as after vfork, and it ends without a signal to
/// us, so that neither the host's handler of SIGCHLD nor its wait() learns of it. Signals are blocked, since the host's
/// handlers must not run in the helper.
bool run_in_helper(Start& start) {
  alignas(64) static char stack[kHelperStack];
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return false;
  const pid_t helper = clone(run_helper, stack + kHelperStack, CLONE_VM | CLONE_VFORK, &start);
  if (helper > 0) waitpid(helper, nullptr, __WCLONE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return helper > 0 && start.succeeded;
}

}  // namespace

bool start_agent(const Settings& settings, const Deadline& deadline) {
  char buffer[PATH_MAX];
  char* arguments[10] = {};
  int count = 0;
  const auto add = [&](const char* text) { arguments[count++] = const_cast<char*>(text); };
  add(kProgram);
  add("--session");
  add(settings.session);
  add("--detach");
  if (settings.endpoint != nullptr) {
    add("--connect");
    add(settings.endpoint);
  }
  if (settings.key != nullptr) {
    add("--key");
    add(settings.key);
  }
  if (settings.allow_inject) add("--allow-inject");
  char** environment = agent_environment();
  if (environment == nullptr) return false;
  Start start{agent_path(buffer), arguments, environment, &deadline, false};
  const bool started = run_in_helper(start);
  free(environment);
  return started;
}

}  // namespace idlewave::client
