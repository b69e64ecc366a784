#pragma once
// Memory that the processes of a node share and that needs no cleaning up: it has no name, and the last process to end
// takes it along.

#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "probe/wire/result.h"

namespace idlewave::support {

/// A mapped memfd, all zero when made. Owns mapping and descriptor.
class SharedMemory {
 public:
  static wire::Result<SharedMemory> create(std::size_t size);

  /// What process `owner` made and knows as `descriptor`, while it lives. Needs the same user and /proc.
  static wire::Result<SharedMemory> open(pid_t owner, int descriptor);

  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  std::byte* data() const { return data_; }  ///< At the start of a page.
  std::size_t size() const { return size_; }
  int descriptor() const { return descriptor_; }

 private:
  SharedMemory(int descriptor, std::byte* data, std::size_t size) : descriptor_(descriptor), data_(data), size_(size) {}
  static wire::Result<SharedMemory> map(int descriptor, std::size_t size);

  int descriptor_;
  std::byte* data_;
  std::size_t size_;
};

}  // namespace idlewave::support
