#include "monitor/term/screen_memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace idlewave::term {

ScreenMemory::ScreenMemory() {
  const int fd = ::memfd_create("idlewave-screen", MFD_CLOEXEC);
  file_ = fd < 0 ? std::tmpfile() : ::fdopen(fd, "w+");
}

ScreenMemory::~ScreenMemory() {
  if (file_ != nullptr) std::fclose(file_);
}

std::string ScreenMemory::take() {
  std::fflush(file_);
  const int fd = ::fileno(file_);
  const off_t size = ::lseek(fd, 0, SEEK_END);
  std::string bytes(static_cast<std::size_t>(size > 0 ? size : 0), '\0');
  const ssize_t got = ::pread(fd, bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  [[maybe_unused]] const bool emptied = ::ftruncate(fd, 0) == 0 && ::lseek(fd, 0, SEEK_SET) == 0;
  return bytes;
}

}  // namespace idlewave::term
