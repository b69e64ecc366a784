#include "probe/outlet/mailbox/endpoint.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

namespace idlewave::mailbox {
namespace {

constexpr std::string_view kTcp = "tcp://";
constexpr std::string_view kIpc = "ipc://";

bool is_ipc(const std::string& endpoint) { return endpoint.starts_with(kIpc); }

/// The socket file; empty for endpoints without one: tcp, and a name of ZeroMQ's choice ("*").
std::string socket_file(const std::string& endpoint) {
  if (!is_ipc(endpoint)) return {};
  std::string path = endpoint.substr(kIpc.size());
  return path.empty() || path[0] == '*' ? std::string() : path;
}

wire::Error malformed(const std::string& endpoint) {
  return {"'" + endpoint +
          "' is no endpoint; write tcp://HOST:PORT (tcp://127.0.0.1:* for any free port) or ipc:///PATH"};
}

/// ZeroMQ takes a port above 65535 modulo 65536.
bool has_port(const std::string& endpoint) {
  const std::string_view port = std::string_view(endpoint).substr(endpoint.rfind(':') + 1);
  int number = -1;
  const auto end = std::from_chars(port.data(), port.data() + port.size(), number);
  return port == "*" ||
         (end.ec == std::errc() && end.ptr == port.data() + port.size() && number >= 0 && number <= 65535);
}

wire::Status check_path(const std::string& endpoint) {
  const std::size_t length = endpoint.size() - kIpc.size();
  constexpr std::size_t kLimit = sizeof(sockaddr_un::sun_path) - 1;
  // "@" begins one of Linux's abstract names, which lie in no folder: anybody can take them.
  if (length == 0 || endpoint[kIpc.size()] == '@') return malformed(endpoint);
  if (length <= kLimit) return wire::ok();
  return wire::Error{"the path in '" + endpoint + "' is longer than the " + std::to_string(kLimit) +
                     " bytes that a socket's name may have; choose a shorter one"};
}

/// True if a program accepts connections at this socket file.
bool somebody_listens(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  // EAGAIN: its queue of connections is full, so it is there, only busy.
  const bool listens =
      connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
  close(probe);
  return listens;
}

}  // namespace

wire::Status check_endpoint(const std::string& endpoint) {
  if (is_ipc(endpoint)) return check_path(endpoint);
  return endpoint.starts_with(kTcp) && has_port(endpoint) ? wire::ok() : malformed(endpoint);
}

bool is_tcp(const std::string& endpoint) { return endpoint.starts_with(kTcp); }

wire::Status check_listener(const std::string& endpoint) {
  if (is_tcp(endpoint) && endpoint.ends_with('*')) return malformed(endpoint);
  const std::string path = socket_file(endpoint);
  struct stat file {};
  if (path.empty() || stat(path.c_str(), &file) != 0 || file.st_uid == geteuid()) return wire::ok();
  return wire::Error{endpoint +
                     " belongs to another user; a session is watched by the user who runs it, or over tcp with a key"};
}

wire::Status clear_stale_socket(const std::string& endpoint) {
  const std::string path = socket_file(endpoint);
  struct stat file {};
  if (path.empty() || lstat(path.c_str(), &file) != 0) return wire::ok();
  if (!S_ISSOCK(file.st_mode)) return wire::Error{"'" + path + "' exists and is not a socket; choose another path"};
  if (somebody_listens(path)) return endpoint_taken(endpoint);
  if (unlink(path.c_str()) != 0) return endpoint_error(endpoint, errno);
  return wire::ok();
}

bool is_deserted(const std::string& endpoint) {
  const std::string path = socket_file(endpoint);
  return !path.empty() && check_endpoint(endpoint) && !somebody_listens(path);
}

wire::Error endpoint_taken(const std::string& endpoint) {
  const std::size_t colon = endpoint.rfind(':');
  if (is_ipc(endpoint)) return {endpoint + " is taken by another program; choose another path"};
  return {endpoint + " is taken by another program; choose another port or " + endpoint.substr(0, colon) +
          ":* for any free one"};
}

wire::Error endpoint_error(const std::string& endpoint, int error_number) {
  switch (error_number) {
    case EADDRINUSE: return endpoint_taken(endpoint);
    case EINVAL: return malformed(endpoint);
    case ENODEV:
    case EADDRNOTAVAIL:
      return {endpoint + ": this machine has no such address; 127.0.0.1 is always there, * stands for all"};
    case EACCES:
    case EPERM:
      return {endpoint + ": not permitted; choose " +
              (is_ipc(endpoint) ? "a folder you may write to" : "a port above 1023")};
    case ENOENT:
    case ENOTDIR: return {endpoint + ": the folder does not exist"};
    default: return {endpoint + ": " + std::generic_category().message(error_number)};
  }
}

}  // namespace idlewave::mailbox
