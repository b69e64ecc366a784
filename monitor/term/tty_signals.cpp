#include "monitor/term/tty_signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdint>

namespace idlewave::term {
namespace {

constexpr std::array kCaught{SIGWINCH, SIGTSTP, SIGCONT};

// A signal handler reaches nothing but globals.
std::atomic<int> wake_fd{-1};
std::atomic<bool> resized{false};
std::atomic<bool> stop_asked{false};
std::atomic<bool> continued{false};

void note(int signal) {
  const int saved = errno;
  (signal == SIGWINCH ? resized : signal == SIGTSTP ? stop_asked : continued).store(true);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd.load(), &one, sizeof one);
  errno = saved;
}

}  // namespace

TtySignals::TtySignals() {
  [[maybe_unused]] const int already = wake_fd.exchange(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  assert(already == -1);
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kCaught.size(); ++i) {
    ::sigaction(kCaught[i], nullptr, &before_[i]);
    if (kCaught[i] != SIGTSTP || before_[i].sa_handler != SIG_IGN) ::sigaction(kCaught[i], &action, nullptr);
  }
}

TtySignals::~TtySignals() {
  for (std::size_t i = 0; i < kCaught.size(); ++i) ::sigaction(kCaught[i], &before_[i], nullptr);
  ::close(wake_fd.exchange(-1));
}

int TtySignals::fd() const { return wake_fd.load(); }

TtySignals::Seen TtySignals::take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd.load(), &count, sizeof count);
  return {resized.exchange(false), stop_asked.exchange(false), continued.exchange(false)};
}

void TtySignals::stop_here() {
  struct sigaction stop {};
  struct sigaction catching {};
  stop.sa_handler = SIG_DFL;
  ::sigaction(SIGTSTP, &stop, &catching);
  ::raise(SIGTSTP);  // to this thread, so that the stop has happened when it returns
  ::sigaction(SIGTSTP, &catching, nullptr);
}

}  // namespace idlewave::term
