#include "workloads/sparse/partition.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <numeric>

#include "tests/workloads/sparse/seeded.h"

namespace idlewave::sparse {
namespace {

using testing_sparse::whole;

/// As ranks find the bounds together: each from its own slice, and the largest of all counts.
Bounds balanced(const std::vector<std::uint32_t>& entries, const Bounds& slices, int parts) {
  const std::int64_t total = std::accumulate(entries.begin(), entries.end(), std::int64_t{0});
  Bounds bounds(std::size_t(parts) + 1);
  std::int64_t before = 0;
  for (std::size_t slice = 0; slice + 1 < slices.size(); ++slice) {
    const std::span own(entries.data() + slices[slice], entries.data() + slices[slice + 1]);
    const Bounds found = bounds_by_entries({slices[slice], own, before}, total, parts);
    for (std::size_t i = 0; i < bounds.size(); ++i) bounds[i] = std::max(bounds[i], found[i]);
    before += std::accumulate(own.begin(), own.end(), std::int64_t{0});
  }
  return bounds;
}

TEST(BoundsByRows, GiveEachPartAsManyRowsAsAnyOtherOrOneMore) {
  for (const Index rows : {1, 2, 7, 100}) {
    for (const int parts : {1, 2, 3, 8, 101}) {
      const Bounds bounds = bounds_by_rows(rows, parts);
      ASSERT_EQ(bounds.size(), std::size_t(parts) + 1);
      EXPECT_EQ(bounds.front(), 0);
      EXPECT_EQ(bounds.back(), rows);
      for (std::size_t part = 0; part + 1 < bounds.size(); ++part)
        EXPECT_THAT(bounds[part + 1] - bounds[part], testing::AnyOf(rows / parts, rows / parts + 1));
    }
  }
}

TEST(BoundsByRows, DoNotOverflow) {
  const Bounds bounds = bounds_by_rows(1'000'000'000'000, 99'991);
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
  EXPECT_EQ(bounds.back(), 1'000'000'000'000);
}

TEST(BoundsByEntries, GiveNoPartMoreThanItsShareAndOneRow) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 300; ++round) {
    const int rows = whole(random, 1, 40), parts = whole(random, 1, 50), slices = whole(random, 1, 12);
    std::vector<std::uint32_t> entries;
    for (int row = 0; row < rows; ++row) entries.push_back(std::uint32_t(whole(random, 0, 3) * whole(random, 0, 9)));
    entries[std::size_t(whole(random, 0, rows - 1))] = 1 + std::uint32_t(whole(random, 0, 60));
    const std::int64_t total = std::accumulate(entries.begin(), entries.end(), std::int64_t{0});
    const Bounds bounds = balanced(entries, bounds_by_rows(rows, slices), parts);
    EXPECT_EQ(bounds, balanced(entries, {0, rows}, parts)) << "the slices change nothing";
    ASSERT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
    EXPECT_EQ(bounds.front(), 0);
    EXPECT_EQ(bounds.back(), rows);
    const std::int64_t largest = *std::max_element(entries.begin(), entries.end());
    for (std::size_t part = 0; part + 1 < bounds.size(); ++part) {
      const auto own =
          std::accumulate(entries.begin() + bounds[part], entries.begin() + bounds[part + 1], std::int64_t{0});
      EXPECT_LT(double(own), double(total) / parts + double(largest));
    }
  }
}

TEST(BoundsByEntries, GiveOneRowToOnePartHoweverManyPartsThereAre) {
  const std::vector<std::uint32_t> entries{1'000'000};
  const Bounds bounds = balanced(entries, {0, 1}, 5);
  EXPECT_EQ(bounds, (Bounds{0, 1, 1, 1, 1, 1}));
}

TEST(PartWith, NamesThePartThatHasTheRowAmongEmptyOnes) {
  const Bounds bounds{0, 0, 3, 3, 3, 7, 7};
  EXPECT_EQ(part_with(bounds, 0), 1);
  EXPECT_EQ(part_with(bounds, 2), 1);
  EXPECT_EQ(part_with(bounds, 3), 4);
  EXPECT_EQ(part_with(bounds, 6), 4);
}

}  // namespace
}  // namespace idlewave::sparse
