#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "monitor/cli/verbs.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {

namespace {

constexpr int kForEver = -1, kPatienceForReader = 2000;  // ms
constexpr std::size_t kAtOnce = PIPE_BUF;                // There is room for so much where there is room at all.

int g_patience = kForEver;
bool g_others_write_here = false;

/// Of a terminal that was stopped (^S) somebody reads.
bool may_have_no_reader() {
  struct stat status {};
  return fstat(STDERR_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

/// A row of blanks goes on in the next row where the cursor was not at the start of one, and stays in its own where it was:
/// either way the start of that row is free. So do shells before a prompt, and nobody has to be asked where the cursor was.
std::string past_a_line_on_terminal() {
  const char* kind = std::getenv("TERM");
  winsize size{};
  const bool wraps = kind != nullptr && std::strcmp(kind, "dumb") != 0;
  if (!wraps || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return "";
  return std::string(size.ws_col, ' ') + "\r";
}

std::string past_a_line_in_file() {
  struct stat status {};
  if (fstat(STDERR_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return "";
  const bool appends = (fcntl(STDERR_FILENO, F_GETFL) & O_APPEND) != 0;
  const off_t at = appends ? status.st_size : lseek(STDERR_FILENO, 0, SEEK_CUR);
  const int file = at > 0 ? open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC) : -1;  // Ours may be for writing alone.
  char last = '\n';
  if (file >= 0 && pread(file, &last, 1, at - 1) != 1) last = '\n';
  if (file >= 0) close(file);
  return last == '\n' ? "" : "\n";
}

/// What leads from where somebody else has left standard error to the start of a line. Of a pipe nobody knows.
std::string way_to_a_line_of_ours() {
  return isatty(STDERR_FILENO) ? past_a_line_on_terminal() : past_a_line_in_file();
}

void write_to_stderr(std::string_view text) {
  static bool somebody_reads = true;
  while (somebody_reads && !text.empty()) {
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    somebody_reads = poll(&room, 1, g_patience) != 0;
    if (!somebody_reads) return;
    const ssize_t written = write(STDERR_FILENO, text.data(), std::min(text.size(), kAtOnce));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return;
    text.remove_prefix(std::size_t(std::max<ssize_t>(written, 0)));
  }
}

}  // namespace

void stand_beside_a_program() {
  if (may_have_no_reader()) g_patience = kPatienceForReader;
  g_others_write_here = true;
}

void say(std::string_view text) { write_to_stderr((g_others_write_here ? way_to_a_line_of_ours() : "").append(text)); }

int fail(const std::string& message, int code) {
  say("idlewave: " + wire::printable(message) + "\n");
  return code;
}

void print(const std::string& text) { std::fputs(wire::printable_lines(text).c_str(), stdout); }

}  // namespace idlewave::cli
