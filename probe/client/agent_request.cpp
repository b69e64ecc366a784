#include "probe/client/agent_request.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "probe/session/directory.h"

namespace idlewave::client {
namespace {

constexpr std::int64_t kHostPatienceMs = 500;  ///< One that is stopped takes connections and does nothing.

/// -1, and errno as of socket() or connect(), 0 where there is nothing to connect to.
int connect_to_host(const char* session) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  char path[session::kSessionFileLimit];
  if (!session::session_file(session, "start.sock", path) || strlen(path) >= sizeof address.sun_path)
    return errno = 0, -1;
  memcpy(address.sun_path, path, strlen(path) + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 || connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

bool is_told_of_it(int fd, const Deadline& deadline) {
  const Deadline patience(kHostPatienceMs);
  while (!patience.has_passed() && !deadline.has_passed()) {
    constexpr int kLookMs = 50;
    pollfd answer{fd, POLLIN, 0};
    if (poll(&answer, 1, kLookMs) <= 0) continue;
    char said = 0;
    const ssize_t got = recv(fd, &said, 1, 0);
    if (got >= 0 || errno != EINTR) return got == 1 && said == '1';
  }
  return false;
}

/// By a filter of system calls, which an agent that the rank starts would have as well.
bool is_forbidden(int error) { return error == EPERM || error == EACCES || error == ENOSYS; }

}  // namespace

Request request_agent(const char* session, const char* clock, const Deadline& deadline) {
  const int host = connect_to_host(session);
  if (host < 0) return is_forbidden(errno) ? Request::kForbidden : Request::kNot;
  static char line[PATH_MAX + 64];  // The program's stack may be small.
  const char* program = getenv("IDLEWAVE_AGENT");
  const int length = snprintf(line, sizeof line, "%s %s\n", clock, program != nullptr ? program : "");
  const bool is_line = static_cast<std::size_t>(length) < sizeof line;
  const bool is_sent = is_line && send(host, line, static_cast<std::size_t>(length), MSG_NOSIGNAL) == length;
  const int error = is_line && !is_sent ? errno : 0;
  const bool is_there = is_sent && is_told_of_it(host, deadline);
  close(host);
  errno = error;
  return is_there ? Request::kDone : is_forbidden(error) ? Request::kForbidden : Request::kNot;
}

}  // namespace idlewave::client
