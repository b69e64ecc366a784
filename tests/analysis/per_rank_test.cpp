#include "monitor/analysis/per_rank.h"

#include <gmock/gmock.h>

#include <vector>

namespace idlewave::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(PerRank, IsAsItWasBeforeWhereNobodyChangedIt) {
  PerRank<std::vector<int>> lists(100);
  lists.of(7) = {1, 2};
  EXPECT_THAT(lists[7], ElementsAre(1, 2));
  EXPECT_THAT(lists[8], IsEmpty());
  EXPECT_THAT(lists[99], IsEmpty());
  EXPECT_TRUE(lists.may_have_changed(7));
  EXPECT_FALSE(lists.may_have_changed(99));
}

TEST(PerRank, KeepsWhatItHasWhenMoreRanksCome) {
  PerRank<int> numbers(1);
  int& first = numbers.of(0);
  numbers.resize(1000);
  first = 3;
  numbers.of(999) = 4;
  EXPECT_EQ(numbers[0] + numbers[999], 7);
  EXPECT_EQ(numbers.size(), 1000u);
}

TEST(PerRank, IsCopiedWhole) {
  PerRank<int> numbers(40);
  numbers.of(39) = 1;
  PerRank<int> copy = numbers;
  copy.of(39) = 2;
  numbers = copy;
  copy.of(39) = 3;
  int sum = 0;
  for (const int number : numbers) sum += number;
  EXPECT_EQ(sum, 2);
}

}  // namespace
}  // namespace idlewave::analysis
