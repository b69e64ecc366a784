#pragma once
// Memory for arrays that are read here and there: with pages of 2 MiB the processor knows where all of it lies.

#include <cstddef>
#include <vector>

namespace idlewave::support {

/// As operator new and delete: throws std::bad_alloc. From 2 MiB on, in huge pages where the system has them; whether
/// it does changes nothing but the time.
void* allocate_huge(std::size_t bytes);
void free_huge(void* memory, std::size_t bytes);

template <class T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <class Other>
  HugePageAllocator(const HugePageAllocator<Other>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_huge(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) { free_huge(memory, count * sizeof(T)); }
  friend bool operator==(const HugePageAllocator&, const HugePageAllocator&) { return true; }
};

template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;  ///< Begins at a cache line.

}  // namespace idlewave::support
