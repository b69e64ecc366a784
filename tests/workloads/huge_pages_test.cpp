#include "workloads/support/huge_pages.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace idlewave::tests {
namespace {

TEST(HugePages, HoldVectorsThatGrowAndShrink) {
  support::HugeVector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 3'000'000; ++i) {
    numbers.push_back(i);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(numbers.data()) % 64, 0u);
  }
  for (std::uint64_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i);
  numbers.resize(5);
  numbers.shrink_to_fit();
  EXPECT_EQ(numbers, (support::HugeVector<std::uint64_t>{0, 1, 2, 3, 4}));
}

TEST(HugePages, BeginAtOneWhereThereIsEnoughForOne) {
  const support::HugeVector<std::uint64_t> large(1 << 18), odd((1 << 18) + 1), small((1 << 18) - 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large.data()) % (2 << 20), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(odd.data()) % (2 << 20), 0u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small.data()) % 64, 0u);
}

}  // namespace
}  // namespace idlewave::tests
