#include "monitor/process/companion.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

namespace idlewave::process {
namespace {

constexpr std::size_t kLongest = 4096;

}  // namespace

Channel::Channel(Channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)), over_(other.over_) {}

Channel& Channel::operator=(Channel&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(over_, other.over_);
  return *this;
}

Channel::~Channel() {
  if (fd_ >= 0) ::close(fd_);
}

bool Channel::say(const std::string& message) {
  const std::size_t length = std::min(message.size(), kLongest);
  return ::send(fd_, message.data(), length, MSG_DONTWAIT | MSG_NOSIGNAL) == ssize_t(length);
}

std::optional<std::string> Channel::hear() {
  std::string message(kLongest, '\0');
  ssize_t got = 0;
  while ((got = ::recv(fd_, message.data(), message.size(), MSG_DONTWAIT)) < 0 && errno == EINTR) {
  }
  if (got <= 0) {
    over_ = over_ || got == 0 || errno != EAGAIN;
    return std::nullopt;
  }
  message.resize(std::size_t(got));
  return message;
}

wire::Result<Companion> start_companion(const char* name, const std::function<int(Channel&)>& body) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return wire::Error{std::string("can't make a channel to a process of ours: ") + std::strerror(errno)};
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    ::setsid();
    ::prctl(PR_SET_NAME, name);
    Channel channel(ends[1]);
    const int code = body(channel);
    ::_exit(code);
  }
  const int reason = errno;
  ::close(ends[1]);
  if (child > 0) return Companion{child, Channel(ends[0])};
  ::close(ends[0]);
  return wire::Error{std::string("can't start a process: ") + std::strerror(reason)};
}

}  // namespace idlewave::process
