#include "monitor/term/tty.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace idlewave::term {
namespace {

bool same_modes(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::memcmp(a.c_cc, b.c_cc, sizeof a.c_cc) == 0;
}

/// Output goes through untouched: ncurses counts on a line feed that moves down and nothing else.
termios keys_one_by_one(termios modes) {
  modes.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR | IGNCR | ISTRIP);
  modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | IEXTEN);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  return modes;
}

/// From the background, tcsetattr would stop the process instead of setting modes.
class WithoutBeingStopped {
 public:
  WithoutBeingStopped() {
    sigset_t output;
    sigemptyset(&output);
    sigaddset(&output, SIGTTOU);
    pthread_sigmask(SIG_BLOCK, &output, &before_);
  }
  WithoutBeingStopped(const WithoutBeingStopped&) = delete;
  WithoutBeingStopped& operator=(const WithoutBeingStopped&) = delete;
  ~WithoutBeingStopped() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

wire::Result<Tty> Tty::open() {
  if (!::isatty(STDOUT_FILENO))
    return wire::Error{"standard output is not a terminal: start it in one, or use --headless"};
  constexpr int kHow = O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  int fd = ::open("/proc/self/fd/1", kHow);
  // after su the device belongs to somebody else, but this way in stays open
  if (fd < 0) fd = ::open("/dev/tty", kHow);
  if (fd < 0) return wire::Error{std::string("can't open the terminal (") + std::strerror(errno) + "): use --headless"};
  return Tty(fd);
}

Tty::Tty(Tty&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      entered_(std::exchange(other.entered_, false)),
      hung_up_(other.hung_up_),
      found_(other.found_),
      ours_(other.ours_) {}

Tty::~Tty() {
  if (fd_ < 0) return;
  leave();
  ::close(fd_);
}

view::paint::Size Tty::size() const {
  winsize window{};
  if (::ioctl(fd_, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return {};
  return {std::min<int>(window.ws_col, kWidest), std::min<int>(window.ws_row, kHighest)};
}

void Tty::enter() {
  if (!entered_) ::tcgetattr(fd_, &found_);
  const termios wanted = keys_one_by_one(found_);
  while (::tcsetattr(fd_, TCSANOW, &wanted) != 0 && errno == EINTR) {
  }
  ::tcgetattr(fd_, &ours_);
  entered_ = true;
}

void Tty::leave() {
  if (!std::exchange(entered_, false)) return;
  const WithoutBeingStopped guard;
  termios now{};
  if (::tcgetattr(fd_, &now) == 0 && same_modes(now, ours_)) ::tcsetattr(fd_, TCSANOW, &found_);
}

std::string Tty::read() {
  std::string bytes(4096, '\0');
  const ssize_t got = ::read(fd_, bytes.data(), bytes.size());
  if (got == 0 || (got < 0 && errno == EIO)) {
    pollfd poller{.fd = fd_, .events = POLLIN, .revents = 0};
    // In the background a read fails with EIO too, and the terminal is still there.
    hung_up_ = ::poll(&poller, 1, 0) == 1 && (poller.revents & (POLLHUP | POLLERR)) != 0;
  }
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace idlewave::term
