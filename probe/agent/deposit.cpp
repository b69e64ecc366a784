#include "probe/agent/deposit.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include "probe/session/descriptor.h"
#include "probe/session/directory.h"
#include "probe/session/files.h"
#include "probe/session/node_name.h"

namespace idlewave::agent {

namespace {

constexpr const char* kIpc = "ipc://";
constexpr pid_t kFirstProcess = 1;

/// In the folder of the socket that we connect to. Empty: that is ours, and so are the host's table of processes and its time; or
/// it has none.
std::string host_elsewhere(const Options& options) {
  const std::size_t begin = std::strlen(kIpc), slash = options.connect.rfind('/');
  if (!options.connect.starts_with(kIpc) || slash <= begin) return {};
  const std::string path = options.connect.substr(begin, slash - begin) + "/start.sock";
  char ours[session::kSessionFileLimit];
  return session::session_file(options.session.c_str(), "start.sock", ours) && path == ours ? std::string() : path;
}

/// Whose user is ours.
session::Descriptor connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  session::Descriptor none, fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd || path.size() >= sizeof address.sun_path) return none;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const bool is_there = connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  return is_there && session::is_of_our_user(fd.get()) ? std::move(fd) : std::move(none);
}

void hand_over(int socket, std::string line, const std::array<int, 3>& handed) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof handed)> room{};
  iovec from{line.data(), line.size()};
  msghdr message{};
  message.msg_iov = &from;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = room.size();
  cmsghdr* const part = CMSG_FIRSTHDR(&message);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(sizeof handed);
  std::memcpy(CMSG_DATA(part), handed.data(), sizeof handed);
  [[maybe_unused]] const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
}

}  // namespace

void leave_with_host(const Options& options, const Segment& segment) {
  const std::string path = host_elsewhere(options);
  if (path.empty()) return;
  const session::Descriptor host = connect_to(path);
  const session::Descriptor first(int(syscall(SYS_pidfd_open, kFirstProcess, 0)));
  const session::Descriptor ours(int(syscall(SYS_pidfd_open, getpid(), 0)));
  if (!host || !first || !ours) return;
  char node[session::kNodeNameLimit];
  session::node_name(node);
  hand_over(host.get(), std::string("memory ") + node + "\n", {segment.fd(), first.get(), ours.get()});
}

}  // namespace idlewave::agent
