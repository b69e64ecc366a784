#include "workloads/support/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace idlewave::support {
namespace {

using wire::Error;
using wire::Result;

Error failure(std::string_view what) { return {fmt::format("shared memory {}: {}", what, std::strerror(errno))}; }

}  // namespace

Result<SharedMemory> SharedMemory::create(std::size_t size) {
  const int descriptor = memfd_create("idlewave", MFD_CLOEXEC);
  if (descriptor < 0) return failure("can't be made");
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0) {
    Error error = failure("can't be sized");
    close(descriptor);
    return error;
  }
  return map(descriptor, size);
}

Result<SharedMemory> SharedMemory::open(pid_t owner, int descriptor) {
  const std::string path = fmt::format("/proc/{}/fd/{}", owner, descriptor);
  const int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct stat status {};
  if (own < 0 || fstat(own, &status) != 0) return failure(fmt::format("can't be opened as {}", path));
  return map(own, static_cast<std::size_t>(status.st_size));
}

Result<SharedMemory> SharedMemory::map(int descriptor, std::size_t size) {
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) {
    Error error = failure("can't be mapped");
    close(descriptor);
    return error;
  }
  return SharedMemory{descriptor, static_cast<std::byte*>(data), size};
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(other.size_) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ == nullptr) return;
  munmap(data_, size_);
  close(descriptor_);
}

}  // namespace idlewave::support
