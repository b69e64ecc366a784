#include "probe/client/agent_start.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/client/libc_parts.h"
#include "probe/shm/clock_reading.h"

namespace idlewave::client {
namespace {

constexpr const char* kProgram = "idlewave-agent";
constexpr std::size_t kHelperStack = 64 * 1024;

/// When this library was loaded into a process that has a session. An agent that it starts later need not wait then until
/// it can tell at which rate the counter runs; between the two there is MPI_Init, most of the time.
shm::ClockReading when_loaded;

[[gnu::constructor]] void read_clocks_early() {
  if (shm::kHasCounter && getenv("IDLEWAVE_SESSION") != nullptr) when_loaded = shm::read_both_clocks();
}

constexpr int kClockLimit = 48;

/// Empty: they were not read.
void tell_early_clocks(char (&out)[kClockLimit]) {
  out[0] = '\0';
  if (when_loaded.ns != 0) snprintf(out, sizeof out, "%" PRIu64 ":%" PRId64, when_loaded.counter, when_loaded.ns);
}

/// What the helper leaves behind, in memory that both see: it has a copy of all else where clone() is made a fork(), as
/// under valgrind.
struct Outcome {
  bool succeeded;
  char why[kReasonLimit];
};

struct Start {
  const char* path;
  char* const* arguments;
  char* const* environment;
  const Deadline* deadline;
  Outcome* outcome;
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
  static char file[PATH_MAX];
  if (realpath(library.dli_fname, file) == nullptr) return false;
  return find_beside(file, "", out) || find_beside(file, "../bin/", out);
}

bool find_beside_program(char (&out)[PATH_MAX]) {
  static char program[PATH_MAX];
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

/// `messages`: where standard error goes; -1: nowhere.
bool describe_files(posix_spawn_file_actions_t& files, int messages) {
  return posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) == 0 &&
         posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0) == 0 &&
         (messages >= 0 ? posix_spawn_file_actions_adddup2(&files, messages, STDERR_FILENO)
                        : posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) == 0 &&
         close_from(files, STDERR_FILENO + 1);
}

bool describe_signals(posix_spawnattr_t& attributes) {
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  return posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) == 0 &&
         posix_spawnattr_setsigmask(&attributes, &none) == 0 && posix_spawnattr_setsigdefault(&attributes, &all) == 0;
}

void explain(const Start& start, const char* format, const char* detail) {
  snprintf(start.outcome->why, kReasonLimit, format, start.path, detail);
}

bool spawn(const Start& start, int messages, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  if (posix_spawn_file_actions_init(&files) != 0) return false;
  posix_spawnattr_init(&attributes);
  int error = ENOMEM;
  if (describe_files(files, messages) && describe_signals(attributes))
    error = posix_spawnp(&pid, start.path, &files, &attributes, start.arguments, start.environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    explain(start, "%s can't be started: %s; IDLEWAVE_AGENT, which 'idlewave run' sets, names the program",
            description_of(error));
  return error == 0;
}

enum class Ending { kSuccess, kFailure, kTooLate };

/// A program that does not end in time is ended.
Ending wait_for_end(pid_t pid, const Deadline& deadline) {
  int status = 0;
  for (;;) {
    const pid_t ended = waitpid(pid, &status, WNOHANG);
    if (ended == pid) return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Ending::kSuccess : Ending::kFailure;
    if (ended < 0) return Ending::kFailure;
    if (!deadline.wait_a_little()) break;
  }
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return Ending::kTooLate;
}

/// The last line that is not empty; it ends where it is cut.
const char* last_line(char* text, std::size_t length) {
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) --length;
  text[length] = '\0';
  const char* line_break = strrchr(text, '\n');
  return line_break != nullptr ? line_break + 1 : text;
}

/// `error`: why there is no file for what the agent says, where there is none.
void explain_failure(const Start& start, int messages, int error) {
  char text[kReasonLimit / 2];
  struct stat status;
  const off_t size = messages >= 0 && fstat(messages, &status) == 0 ? status.st_size : 0;
  const off_t most = sizeof text - 1;
  const ssize_t got = size > 0 ? pread(messages, text, sizeof text - 1, size > most ? size - most : 0) : 0;
  const char* const silence = messages < 0 ? description_of(error) : "it did not say why";
  explain(start, "%s failed: %s", got > 0 ? last_line(text, static_cast<std::size_t>(got)) : silence);
}

/// Of the helper alone. Where the host ignores SIGCHLD nobody would be told how a child ended. Past the library, whose
/// notes of handlers may be the host's.
void want_to_know_of_children() {
  constexpr std::size_t kSignalSet = 8;  // bytes, as the kernel has it
  const unsigned long by_default[8] = {};
  syscall(SYS_rt_sigaction, SIGCHLD, by_default, nullptr, kSignalSet);
}

int run_helper(void* argument) {
  const auto& start = *static_cast<const Start*>(argument);
  want_to_know_of_children();
  pid_t pid = 0;
  // In memory, so that nobody has to read while the program writes.
  const int messages = memfd_create("idlewave-start", MFD_CLOEXEC);
  const int error = errno;
  if (!spawn(start, messages, pid)) return 0;
  const Ending ending = wait_for_end(pid, *start.deadline);
  start.outcome->succeeded = ending == Ending::kSuccess;
  if (ending == Ending::kFailure) explain_failure(start, messages, error);
  if (ending == Ending::kTooLate) explain(start, "%s did not go into the background within %s", "5 s");
  return 0;
}

/// A host that takes in orphans would get the agent for a child when that goes into the background, and may wait until
/// its last child has ended.
class NoReaper {
 public:
  NoReaper() {
    if (prctl(PR_GET_CHILD_SUBREAPER, &was_one_) == 0 && was_one_ != 0) prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
  ~NoReaper() {
    if (was_one_ != 0) prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  NoReaper(const NoReaper&) = delete;
  NoReaper& operator=(const NoReaper&) = delete;

 private:
  int was_one_ = 0;
};

/// Lets a helper process be the agent's parent: it shares our memory as after vfork, and it ends without a signal to
/// us, so that neither the host's handler of SIGCHLD nor its wait() learns of it. Signals are blocked, since the host's
/// handlers must not run in the helper.
void run_in_helper(Start& start) {
  alignas(64) static char stack[kHelperStack];
  sigset_t all, before;
  sigfillset(&all);
  if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0) return;
  const NoReaper while_the_agent_leaves;
  const pid_t helper = clone(run_helper, stack + kHelperStack, CLONE_VM | CLONE_VFORK, &start);
  if (helper > 0) waitpid(helper, nullptr, __WCLONE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// What the agent is called with; no word is copied.
class AgentWords {
 public:
  /// `clock`: as tell_early_clocks() says it.
  AgentWords(const Settings& settings, const char* clock) {
    add(kProgram);
    add("--session");
    add(settings.session);
    add("--detach");
    if (settings.endpoint != nullptr) add("--connect"), add(settings.endpoint);
    if (settings.key != nullptr) add("--key"), add(settings.key);
    if (settings.allow_inject) add("--allow-inject");
    if (clock[0] != '\0') add("--clock"), add(clock);
  }
  char** words() { return words_; }

 private:
  void add(const char* word) { words_[count_++] = const_cast<char*>(word); }

  char* words_[12] = {};
  int count_ = 0;
};

/// Of the memory that the helper shares: what became of it.
bool outcome_of(char** arguments, char** environment, const Deadline& deadline, Outcome& outcome) {
  static char buffer[PATH_MAX];  // Once for each process, whose stack may be small.
  snprintf(outcome.why, kReasonLimit, "the process that was to start the agent has been killed");
  Start start{agent_path(buffer), arguments, environment, &deadline, &outcome};
  run_in_helper(start);
  return outcome.succeeded;
}

}  // namespace

Request have_host_start_agent(const Settings& settings, const Deadline& deadline) {
  char clock[kClockLimit];
  tell_early_clocks(clock);
  return request_agent(settings.session, clock, deadline);
}

bool start_agent(const Settings& settings, const Deadline& deadline, char (&why)[kReasonLimit]) {
  const Request asked = have_host_start_agent(settings, deadline);
  if (asked == Request::kDone) return true;
  if (asked == Request::kForbidden) {
    snprintf(why, kReasonLimit, "it may not speak to its host, nor might an agent that it starts: %s",
             description_of(errno));
    return false;
  }
  char clock[kClockLimit];
  tell_early_clocks(clock);
  AgentWords arguments(settings, clock);
  char** environment = agent_environment();
  void* memory = mmap(nullptr, sizeof(Outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  bool succeeded = false;
  if (environment != nullptr && memory != MAP_FAILED) {
    auto& outcome = *static_cast<Outcome*>(memory);
    succeeded = outcome_of(arguments.words(), environment, deadline, outcome);
    snprintf(why, kReasonLimit, "%s", outcome.why);
  }
  if (memory != MAP_FAILED) munmap(memory, sizeof(Outcome));
  free(environment);
  return succeeded;
}

}  // namespace idlewave::client
