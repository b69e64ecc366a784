#include "monitor/cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "probe/wire/printable.h"

namespace idlewave::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPatience{1000};
constexpr milliseconds kPeriod{250};
/// Until so much is done, or so much time has passed, how long the rest takes is a guess that jumps about.
constexpr double kTelling = 0.02;

std::size_t terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col - 1u : 79u;
}

}  // namespace

std::string progress_in_words(double share, wire::Nanoseconds elapsed) {
  share = share > 0 ? std::min(share, 1.0) : 0.0;
  const std::string done = fmt::format("{} %", int(share * 100));
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (share < kTelling || elapsed < kPeriod) return done;
  return fmt::format("{}, {} s left", done, std::llround(std::ceil(seconds * (1 - share) / share)));
}

Progress::Progress(std::string what)
    : what_(std::move(what)), has_terminal_(isatty(STDERR_FILENO) == 1), next_(began_ + kPatience) {}

Progress::~Progress() {
  if (columns_ != 0) show("");
}

void Progress::reached(double share) {
  if (!has_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + kPeriod;
  const std::string words = progress_in_words(share, Clock::now() - began_);
  const std::string line = wire::printable(what_) + ": " + words;
  show(line.size() <= terminal_columns() ? line : words);
}

/// Blanks, and no escape sequence: every terminal obeys them.
void Progress::show(const std::string& line) {
  const std::size_t before = std::exchange(columns_, line.size());
  std::fprintf(stderr, "\r%s%s\r", line.c_str(), std::string(before - std::min(before, line.size()), ' ').c_str());
  std::fflush(stderr);
}

}  // namespace idlewave::cli
