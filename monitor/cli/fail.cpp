#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>

#include "monitor/cli/verbs.h"
#include "probe/wire/printable.h"

namespace idlewave::cli {

namespace {

constexpr int kForEver = -1, kPatienceForReader = 2000;  // ms
constexpr std::size_t kAtOnce = PIPE_BUF;                // There is room for so much where there is room at all.

int g_patience = kForEver;

/// Of a terminal that was stopped (^S) somebody reads.
bool may_have_no_reader() {
  struct stat status {};
  return fstat(STDERR_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

}  // namespace

void give_up_who_reads_nothing() {
  if (may_have_no_reader()) g_patience = kPatienceForReader;
}

void say(std::string_view text) {
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

int fail(const std::string& message, int code) {
  say("idlewave: " + wire::printable(message) + "\n");
  return code;
}

void print(const std::string& text) { std::fputs(wire::printable_lines(text).c_str(), stdout); }

}  // namespace idlewave::cli
