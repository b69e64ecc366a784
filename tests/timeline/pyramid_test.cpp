// Buckets that are not made, since they would be forgotten before anybody reads, against all of them.

#include "monitor/timeline/pyramid.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/any_seed.h"

namespace idlewave::timeline {
namespace {

struct Added {
  int category;
  std::int64_t to;
};

/// One after another from `at` on: some of no length, some that end where buckets of some width do, and some as long as
/// many buckets.
std::vector<Added> random_time(std::mt19937_64& random, std::int64_t& at, std::size_t count) {
  std::vector<Added> all;
  const int widest = 12 + int(random() % 14);
  while (all.size() < count) {
    const int width = int(random() % std::uint64_t(widest));
    at += std::int64_t(random() % (std::uint64_t{1} << width));
    if (random() % 4 == 0) at = ((at >> width) + 1) << width;
    all.push_back({int(random() % (kCategories + 1)), at});
  }
  return all;
}

std::vector<Bucket> kept(const Pyramid& pyramid, int level) {
  std::vector<Bucket> buckets;
  pyramid.for_each_run(level, pyramid.kept_from(level), pyramid.open(level),
                       [&](std::int64_t, auto run) { buckets.insert(buckets.end(), run.begin(), run.end()); });
  return buckets;
}

void expect_same_level(const Pyramid& a, const Pyramid& b, int level) {
  ASSERT_EQ(a.kept_from(level), b.kept_from(level));
  ASSERT_EQ(a.open(level), b.open(level));
  ASSERT_EQ(kept(a, level), kept(b, level));
  const Piece open = a.open_piece(level), other = b.open_piece(level);
  ASSERT_EQ(open.from, other.from);
  ASSERT_EQ(open.to, other.to);
  ASSERT_EQ(open.shares, other.shares);
}

void expect_same(const Pyramid& a, const Pyramid& b) {
  ASSERT_EQ(a.times(), b.times());
  ASSERT_EQ(a.levels(), b.levels());
  ASSERT_EQ(a.bytes(), b.bytes());
  for (int level = 0; level < a.levels(); ++level) {
    SCOPED_TRACE("level " + std::to_string(level));
    ASSERT_NO_FATAL_FAILURE(expect_same_level(a, b, level));
  }
}

TEST(Pyramid, KeepsTheSameBucketsIfThoseThatAreForgottenAreNeverMade) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const auto limit = std::uint32_t(1) << random() % 8;
    std::int64_t at = std::int64_t(random() % (std::uint64_t{1} << 40));
    Pyramid all, skipping;
    all.start(at), skipping.start(at);
    for (int batch = 0; batch < 20; ++batch) {
      const std::vector<Added> more = random_time(random, at, 1 + random() % 300);
      skipping.skip_to(at, limit);
      for (const auto& [category, to] : more) all.add(category, to, limit), skipping.add(category, to, limit);
      ASSERT_NO_FATAL_FAILURE(expect_same(all, skipping));
    }
  }
}

TEST(Pyramid, MakesNoBucketsThatAreForgottenBeforeAnybodyReads) {
  constexpr std::uint32_t kLimit = 8;
  constexpr std::int64_t kBucket = std::int64_t{1} << Pyramid::kBaseShift;
  Pyramid pyramid;
  pyramid.start(0);
  pyramid.add(0, 10 * kBucket, kLimit);
  pyramid.skip_to(100 * kBucket, kLimit);
  pyramid.add(0, 50 * kBucket, kLimit);
  EXPECT_EQ(pyramid.open(0), 10);
  pyramid.add(0, 100 * kBucket, kLimit);
  EXPECT_EQ(pyramid.open(0), 100);
}

}  // namespace
}  // namespace idlewave::timeline
