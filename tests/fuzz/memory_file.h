#pragma once
// For what reads files by their names.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>

#include "tests/fuzz/road.h"

namespace idlewave::fuzz {

/// A file of memory that has a name.
class MemoryFile {
 public:
  MemoryFile() : fd_(memfd_create("input", MFD_CLOEXEC)) { path_ = "/proc/self/fd/" + std::to_string(fd_); }
  ~MemoryFile() { close(fd_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  const std::string& path() const { return path_; }
  void write(std::span<const std::uint8_t> bytes) {
    require(::write(fd_, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  }

 private:
  int fd_;
  std::string path_;
};

}  // namespace idlewave::fuzz
