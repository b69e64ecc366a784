#include "workloads/support/huge_pages.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace idlewave::support {

namespace {

constexpr std::size_t kPage = std::size_t{2} << 20;
constexpr std::size_t kCacheLine = 64;

std::size_t round_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* allocate_huge(std::size_t bytes) {
  const std::size_t unit = bytes < kPage ? kCacheLine : kPage;
  void* const memory = std::aligned_alloc(unit, round_up(bytes, unit));
  if (!memory) throw std::bad_alloc();
  if (unit == kPage) madvise(memory, round_up(bytes, unit), MADV_HUGEPAGE);
  return memory;
}

void free_huge(void* memory) { std::free(memory); }

}  // namespace idlewave::support
