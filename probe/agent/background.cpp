#include "probe/agent/background.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "probe/wire/printable.h"

namespace idlewave::agent {

namespace {

constexpr int kPipe = STDERR_FILENO + 1;

/// What the new process reports: its exit code, then its message. No byte: it died.
[[noreturn]] void wait_for_report(int from) {
  unsigned char code = EXIT_FAILURE;
  std::array<char, 1024> message{};
  ssize_t got = 0;
  while ((got = read(from, &code, 1)) < 0 && errno == EINTR) continue;
  if (got != 1) std::fprintf(stderr, "idlewave-agent: died while it started\n");
  while ((got = read(from, message.data(), message.size())) > 0)
    std::fwrite(message.data(), 1, std::size_t(got), stderr);
  std::fflush(stderr);
  _exit(code);
}

void close_all_from(unsigned first) {
  if (syscall(SYS_close_range, first, ~0u, 0) == 0) return;
  const long limit = sysconf(_SC_OPEN_MAX);
  for (int fd = int(first); fd < (limit > 0 ? limit : 1024); ++fd) close(fd);
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "idlewave-agent: can't go into the background: %s: %s\n", what, std::strerror(errno));
  _exit(EXIT_FAILURE);
}

}  // namespace

Background Background::enter() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) give_up("pipe");
  pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child > 0) {
    close(ends[1]);
    waitpid(child, nullptr, 0);
    wait_for_report(ends[0]);
  }
  setsid();
  child = fork();  // so that this process is not the leader of its session and never gets a terminal
  if (child != 0) _exit(child < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
  if (dup2(ends[1], kPipe) < 0 || chdir("/") != 0) _exit(EXIT_FAILURE);
  close_all_from(kPipe + 1);
  fcntl(kPipe, F_SETFD, FD_CLOEXEC);
  const int nothing = open("/dev/null", O_RDWR);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
  if (nothing > STDERR_FILENO) close(nothing);
  return Background(kPipe);
}

void Background::report(int exit_code, const std::string& said) {
  const std::string message = wire::printable(said);
  if (starter_ < 0) {
    if (!message.empty()) std::fprintf(stderr, "%s\n", message.c_str());
    return;
  }
  const std::string text = char(exit_code) + (message.empty() ? message : message + "\n");
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t done = write(starter_, text.data() + sent, text.size() - sent);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;  // the starter did not wait
    sent += std::size_t(done);
  }
  close(std::exchange(starter_, -1));
}

bool set_processor(int processor) {
  constexpr int kMost = 1 << 13;
  cpu_set_t* set = CPU_ALLOC(kMost);
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(kMost);
  CPU_ZERO_S(bytes, set);
  if (processor >= 0) CPU_SET_S(std::size_t(processor), bytes, set);
  for (int i = 0; processor < 0 && i < kMost; ++i) CPU_SET_S(std::size_t(i), bytes, set);
  const bool done = processor < kMost && sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return done;
}

}  // namespace idlewave::agent
