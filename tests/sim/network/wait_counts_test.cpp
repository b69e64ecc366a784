#include "workloads/sim/network/wait_counts.h"

#include <gtest/gtest.h>

#include <vector>

namespace idlewave::tests {
namespace {

TEST(WaitCounts, TellWhichIsTheLastOfFewAndOfMany) {
  const std::vector<std::uint32_t> numbers{0, 1, 2, 253, 254, 255, 256, 257, 1000, 70000, 3};
  sim::network::WaitCounts counts(numbers.size());
  for (std::uint32_t op = 0; op < numbers.size(); ++op)
    for (std::uint32_t i = 0; i < numbers[op]; ++i) counts.add(op);
  sim::network::WaitCounts copy = counts;
  for (std::uint32_t op = 0; op < numbers.size(); ++op) {
    EXPECT_EQ(counts.of(op), numbers[op]);
    for (std::uint32_t left = numbers[op]; left > 0; --left) {
      ASSERT_EQ(copy.of(op), left);
      ASSERT_EQ(copy.take(op), left == 1) << numbers[op];
    }
    EXPECT_EQ(copy.of(op), 0u);
  }
}

}  // namespace
}  // namespace idlewave::tests
