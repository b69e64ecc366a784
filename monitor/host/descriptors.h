#pragma once
// Several descriptors that poll as one.

#include <sys/epoll.h>
#include <unistd.h>

namespace idlewave::host {

/// Readable when one of them is. Whoever closes one takes it away by that. One thread.
class Descriptors {
 public:
  Descriptors() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~Descriptors() { close(fd_); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;
  void add(int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    epoll_ctl(fd_, EPOLL_CTL_ADD, fd, &event);
  }
  void remove(int fd) { epoll_ctl(fd_, EPOLL_CTL_DEL, fd, nullptr); }
  int fd() const { return fd_; }

 private:
  int fd_;
};

}  // namespace idlewave::host
