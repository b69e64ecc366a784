#pragma once
// For how many others each operation waits.

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "workloads/support/huge_pages.h"

namespace idlewave::sim::network {

/// A byte an operation, since nearly all wait for few.
class WaitCounts {
 public:
  WaitCounts() = default;
  explicit WaitCounts(std::size_t ops) : few_(ops) {}

  void add(std::uint32_t op) {
    if (few_[op] == kMany)
      ++many_[op];
    else if (++few_[op] == kMany)
      many_[op] = kMany;
  }

  std::uint32_t of(std::uint32_t op) const { return few_[op] == kMany ? many_.at(op) : few_[op]; }

  /// One less. Whether it was the last one.
  bool take(std::uint32_t op) {
    if (few_[op] == kMany) return take_of_many(op);
    return --few_[op] == 0;
  }

  /// Where it is kept, to be fetched in advance.
  const void* place_of(std::uint32_t op) const { return &few_[op]; }

 private:
  static constexpr std::uint8_t kMany = 255;

  bool take_of_many(std::uint32_t op) {
    const std::uint32_t left = --many_[op];
    if (left < kMany) few_[op] = std::uint8_t(left);
    return false;
  }

  support::HugeVector<std::uint8_t> few_;  ///< kMany: see many_.
  std::unordered_map<std::uint32_t, std::uint32_t> many_;
};

}  // namespace idlewave::sim::network
