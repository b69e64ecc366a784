#include "probe/signals/stop_signals.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cassert>
#include <cerrno>
#include <cstdint>

namespace idlewave::signals {
namespace {

constexpr std::array kCaught{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

// A signal handler reaches nothing but globals.
std::atomic<int> wake_fd{-1};
std::atomic<int> first{0};

void note(int signal) {
  const int saved = errno;
  int none = 0;
  first.compare_exchange_strong(none, signal);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_fd.load(), &one, sizeof one);
  errno = saved;
}

}  // namespace

StopSignals::StopSignals() {
  first.store(0);
  [[maybe_unused]] const int already = wake_fd.exchange(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  assert(already == -1);
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kCaught.size(); ++i) ::sigaction(kCaught[i], &action, &before_[i]);
}

StopSignals::~StopSignals() {
  for (std::size_t i = 0; i < kCaught.size(); ++i) ::sigaction(kCaught[i], &before_[i], nullptr);
  ::close(wake_fd.exchange(-1));
}

int StopSignals::fd() const { return wake_fd.load(); }

void StopSignals::forget() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t got = ::read(wake_fd.load(), &count, sizeof count);
  first.store(0);
}

std::optional<int> StopSignals::received() const {
  const int signal = first.load();
  return signal == 0 ? std::nullopt : std::optional(signal);
}

}  // namespace idlewave::signals
