#include "probe/session/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace idlewave::session {
namespace {

constexpr int kMakingTries = 100;

/// The lock of a folder that was removed while we waited for it protects nothing.
bool is_still_at(int fd, const char* path) {
  struct stat held, found;
  return fstat(fd, &held) == 0 && lstat(path, &found) == 0 && held.st_ino == found.st_ino &&
         held.st_dev == found.st_dev;
}

bool is_open_to_us(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0 && (status.st_mode & 0700) == 0700;
}

}  // namespace

bool read_small_file(const char* path, char* out, std::size_t size) {
  const Descriptor file(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return false;
  std::size_t length = 0;
  while (length < size) {
    const ssize_t got = read(file.get(), out + length, size - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length == size) return false;
  out[length] = '\0';
  return true;
}

bool write_all(int fd, const char* text, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool is_private_folder(const char* path) {
  struct stat status;
  errno = 0;
  return lstat(path, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
         (status.st_mode & 022) == 0;
}

bool is_there(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0;
}

bool make_private_folder(const char* path) {
  for (int i = 0; i < kMakingTries; ++i) {
    if (mkdir(path, 0700) == 0) {
      if (!is_open_to_us(path)) chmod(path, 0700);  // The umask may leave out the owner.
    } else if (errno != EEXIST) {
      return false;
    }
    if (is_private_folder(path)) return true;
    if (errno != ENOENT) return false;  // Else it was swept away in between.
  }
  return false;
}

int try_lock(const char* path, int how) {
  Descriptor file(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file || flock(file.get(), how | LOCK_NB) != 0) return -1;
  if (is_still_at(file.get(), path)) return file.release();
  errno = EWOULDBLOCK;  // whoever removed it had it
  return -1;
}

bool somebody_listens(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (!print_to(address.sun_path, "%s", path)) return false;
  const Descriptor socket_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_) return true;
  return connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno == EAGAIN;
}

bool is_of_our_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

}  // namespace idlewave::session
