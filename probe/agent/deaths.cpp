#include "probe/agent/deaths.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace idlewave::agent {

Deaths::Deaths() : fd_(epoll_create1(EPOLL_CLOEXEC)) {}

Deaths::~Deaths() {
  if (fd_ >= 0) close(fd_);
}

/// By numbers: a child of ours that has yet to become another program keeps what we have closed.
bool Deaths::watch(const Resident& resident) {
  const std::uint64_t who = std::uint64_t(std::uint32_t(resident.pid())) << 32 | std::uint32_t(resident.rank());
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {.u64 = who}};
  return resident.process_fd() >= 0 && epoll_ctl(fd_, EPOLL_CTL_ADD, resident.process_fd(), &event) == 0;
}

std::vector<Deaths::Death> Deaths::take() {
  std::vector<Death> deaths;
  std::array<epoll_event, 64> ended;
  for (int count = int(ended.size()); count == int(ended.size());) {
    count = epoll_wait(fd_, ended.data(), int(ended.size()), 0);
    for (int i = 0; i < count; ++i) {
      const std::uint64_t who = ended[std::size_t(i)].data.u64;
      deaths.push_back({wire::Rank(std::uint32_t(who)), pid_t(who >> 32)});
    }
  }
  return deaths;
}

}  // namespace idlewave::agent
