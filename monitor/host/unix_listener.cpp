#include "monitor/host/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace idlewave::host {
namespace {

constexpr int kMostWaiting = 64;  // ranks of one node ask one at a time, and it has one agent

}  // namespace

int listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  errno = ENAMETOOLONG;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  unlink(path.c_str());  // of a process that was killed
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  const bool listens = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                       chmod(path.c_str(), S_IRUSR | S_IWUSR) == 0 && listen(fd, kMostWaiting) == 0;
  if (listens) return fd;
  const int why = errno;
  close(fd);
  errno = why;
  return -1;
}

}  // namespace idlewave::host
