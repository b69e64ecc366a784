// A ring against a deque.

#include "monitor/timeline/ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <string>

#include "tests/any_seed.h"

namespace idlewave::timeline {
namespace {

TEST(Ring, HoldsWhatADequeHolds) {
  std::mt19937_64 random(any_seed());
  Ring<int> ring;
  std::deque<int> expected;
  std::size_t most = 0;
  for (int next = 0; next < 20'000; ++next) {
    // It grows and shrinks by turns, so that it goes round at many sizes.
    const bool grows = random() % 8 < (next / 500 % 2 == 0 ? 5 : 3);
    if (grows || expected.empty()) {
      ring.push_back(next), expected.push_back(next);
    } else {
      ring.pop_front(), expected.pop_front();
    }
    if (random() % 5000 == 0) ring.clear(), expected.clear();
    if (random() % 1000 == 0) {
      ring.shrink();
      most = expected.size();
    }
    most = std::max(most, expected.size());
    ASSERT_EQ(ring.size(), expected.size());
    ASSERT_LE(ring.bytes(), std::max<std::size_t>(2 * most, 8) * sizeof(int));
    ASSERT_EQ(ring.empty(), expected.empty());
    if (expected.empty()) continue;
    ASSERT_EQ(ring.front(), expected.front());
    ASSERT_EQ(ring.back(), expected.back());
    const std::size_t place = random() % expected.size();
    ASSERT_EQ(ring[place], expected[place]);
    ASSERT_EQ(ring.begin()[std::ptrdiff_t(place)], expected[place]);
    ASSERT_TRUE(next % 100 != 0 || std::equal(ring.begin(), ring.end(), expected.begin(), expected.end()));
  }
}

TEST(Ring, IsNoLargerThanAPowerOfTwoThatItNeverExceeds) {
  Ring<int> ring;
  for (int next = 0; next < 1000; ++next) {
    if (ring.size() == 128) ring.pop_front();
    ring.push_back(next);
  }
  EXPECT_EQ(ring.bytes(), 128 * sizeof(int));
}

TEST(Ring, IsSearchedLikeAnyRange) {
  Ring<int> ring;
  for (int next = 0; next < 100; ++next) {
    if (ring.size() == 32) ring.pop_front();
    ring.push_back(3 * next);
  }
  EXPECT_EQ(std::upper_bound(ring.begin(), ring.end(), 240) - ring.begin(), 81 - 68);
  EXPECT_EQ(*std::prev(ring.end()), 297);
}

}  // namespace
}  // namespace idlewave::timeline
