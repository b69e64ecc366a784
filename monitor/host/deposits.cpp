#include "monitor/host/deposits.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "monitor/host/node_list.h"

namespace idlewave::host {
namespace {

constexpr std::size_t kMostDeposits = 64;
constexpr std::size_t kHanded = 3;
constexpr const char* kWord = "memory ";

using Handed = std::array<session::Descriptor, kHanded>;

/// What the kernel has opened here is closed again, whoever sent it.
Handed handed_with(msghdr& message) {
  Handed handed;
  std::size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= part->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(part) + at, sizeof fd);
      session::Descriptor owned(fd);
      if (count < kHanded) handed[count++] = std::move(owned);
    }
  }
  return handed;
}

/// Of a line "memory NODE"; else empty.
std::string node_in(const std::string& text) {
  const std::size_t begin = std::strlen(kWord), end = text.find('\n');
  if (!text.starts_with(kWord) || end == std::string::npos) return {};
  std::string node = text.substr(begin, end - begin);
  return is_node_name(node) ? node : std::string();
}

bool has_ended(const session::Descriptor& process) {
  pollfd look{process.get(), POLLIN, 0};
  return poll(&look, 1, 0) == 1;
}

}  // namespace

Said hear_from(int socket) {
  std::array<char, PATH_MAX + 64> text{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kHanded * sizeof(int))> room{};
  iovec into{text.data(), text.size() - 1};
  msghdr message{};
  message.msg_iov = &into;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  const ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (got <= 0) return {true, {}, {}};
  Handed handed = handed_with(message);
  Said said{true, std::string(text.data(), std::size_t(got)), {}};
  std::string node = node_in(said.text);
  if (!node.empty() && handed[0] && handed[1] && handed[2])
    said.deposit = Deposit{std::move(node), std::move(handed[0]), std::move(handed[1]), std::move(handed[2])};
  return said;
}

/// What has not been told in time is left untold.
Deposits::~Deposits() {
  for (Held& held : held_)
    if (held.teller && !held.teller->exit_code()) kill(-held.teller->pid(), SIGKILL);
}

bool Deposits::take(Deposit deposit) {
  if (held_.size() >= kMostDeposits) return false;
  held_.push_back({.deposit = std::move(deposit), .teller = {}});
  return true;
}

void Deposits::serve() {
  for (Held& held : held_) {
    if (held.deposit.agent && has_ended(held.deposit.agent)) held.deposit.agent = session::Descriptor();
    if (!held.teller && has_ended(held.deposit.process)) have_told(held);
    held.is_told = held.is_told || (held.teller && held.teller->exit_code());
  }
  held_.remove_if([](const Held& held) { return held.is_told; });
}

bool Deposits::are_told() {
  serve();
  return std::ranges::none_of(held_, [](const Held& held) { return held.teller.has_value(); });
}

bool Deposits::some_agent_lives() const {
  return std::ranges::any_of(held_, [](const Held& held) { return bool(held.deposit.agent); });
}

void Deposits::say_program_has_ended() {
  for (Held& held : held_) {
    if (!held.deposit.agent || std::exchange(held.knows_of_end, true)) continue;
    for (const int signal : {SIGCONT, SIGURG})
      syscall(SYS_pidfd_send_signal, held.deposit.agent.get(), signal, nullptr, 0);
  }
}

/// It finds the memory where its standard input would be.
void Deposits::have_told(Held& held) const {
  std::vector<std::string> command = agent_;
  command.insert(command.end(), {"--left-by", held.deposit.node});
  const session::Descriptor nothing(open("/dev/null", O_WRONLY | O_CLOEXEC));
  auto started = process::Program::start(command, {.environment = environment_,
                                                   .input_fd = held.deposit.memory.get(),
                                                   .output_fd = nothing.get(),
                                                   .error_fd = nothing.get()});
  if (auto* const teller = std::get_if<process::Program>(&started)) held.teller = *teller;
  held.is_told = !held.teller;
  held.deposit.process = session::Descriptor();
  held.deposit.memory = session::Descriptor();
}

}  // namespace idlewave::host
