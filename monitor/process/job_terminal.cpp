#include "monitor/process/job_terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace idlewave::process {
namespace {

bool same_modes(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

int open_terminal() {
  constexpr int kHow = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
  const int fd = ::isatty(STDOUT_FILENO) ? ::open("/proc/self/fd/1", kHow) : -1;
  return fd >= 0 ? fd : ::open("/dev/tty", kHow);
}

}  // namespace

JobTerminal::JobTerminal() : fd_(open_terminal()) { remember_modes(); }

JobTerminal::~JobTerminal() {
  if (fd_ >= 0) ::close(fd_);
}

bool JobTerminal::in_foreground(pid_t group) const { return fd_ >= 0 && ::tcgetpgrp(fd_) == group; }

bool JobTerminal::is_somebody_elses() const {
  const pid_t group = fd_ < 0 ? -1 : ::tcgetpgrp(fd_);
  return group >= 0 && group != ::getpgrp();
}

void JobTerminal::give_to(pid_t group) const {
  if (fd_ >= 0) ::tcsetpgrp(fd_, group);
}

void JobTerminal::remember_modes() {
  termios modes{};
  if (fd_ >= 0 && ::tcgetattr(fd_, &modes) == 0) modes_ = modes;
}

bool JobTerminal::restore_modes() const {
  termios now{};
  if (!modes_ || ::tcgetattr(fd_, &now) != 0 || same_modes(now, *modes_)) return false;
  ::tcsetattr(fd_, TCSANOW, &*modes_);
  return true;
}

void JobTerminal::write(std::string_view bytes) const {
  if (fd_ >= 0) [[maybe_unused]]
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
}

}  // namespace idlewave::process
