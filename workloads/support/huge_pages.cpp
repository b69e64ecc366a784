#include "workloads/support/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace idlewave::support {

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

/// Not from malloc, which may hand out memory again that has its small pages.
void* allocate_huge(std::size_t bytes) {
  if (bytes < kPage) {
    if (void* const memory = std::aligned_alloc(kCacheLine, round_up(bytes, kCacheLine))) return memory;
    throw std::bad_alloc();
  }
  const std::size_t length = round_up(bytes, kPage);
  void* const mapped = mmap(nullptr, length + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(mapped);
  const std::size_t before =
      round_up(reinterpret_cast<std::uintptr_t>(begin), kPage) - reinterpret_cast<std::uintptr_t>(begin);
  if (before > 0) munmap(begin, before);
  if (before < kPage) munmap(begin + before + length, kPage - before);
  madvise(begin + before, length, MADV_HUGEPAGE);
  return begin + before;
}

void free_huge(void* memory, std::size_t bytes) {
  if (bytes < kPage)
    std::free(memory);
  else
    munmap(memory, round_up(bytes, kPage));
}

}  // namespace idlewave::support
