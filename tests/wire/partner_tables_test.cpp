// Who waits for whom, as strangers may write it. That sound tables come back as they were is tried with whole frames.

#include "probe/wire/partner_tables.h"

#include <gtest/gtest.h>

#include "probe/wire/varint.h"
#include "tests/wire/random_frames.h"

namespace idlewave::wire {
namespace {

std::vector<std::byte> numbers(std::initializer_list<std::uint64_t> values) {
  std::vector<std::byte> bytes;
  for (const std::uint64_t value : values) append_varint(bytes, value);
  return bytes;
}

bool are_patterns(std::initializer_list<std::uint64_t> values) {
  std::vector<WaitPattern> patterns;
  return unpack_patterns(numbers(values), patterns);
}

bool are_cycles(std::initializer_list<std::uint64_t> values, std::size_t patterns = 3) {
  std::vector<WaitCycle> cycles;
  return unpack_cycles(numbers(values), patterns, cycles);
}

constexpr std::uint64_t ahead(std::uint64_t distance) { return 2 * distance; }
constexpr std::uint64_t behind(std::uint64_t distance) { return 2 * distance - 1; }

TEST(PartnerTables, AreReadAsTheyAreDescribed) {
  std::vector<WaitPattern> patterns;
  ASSERT_TRUE(unpack_patterns(numbers({3, 1, 2, behind(1), ahead(2), 1, ahead(1), 2, 0, 0, 5, 0, 0}), patterns));
  EXPECT_EQ(patterns, (std::vector<WaitPattern>{
                          {true, false, {-1, 1}, {1}}, {false, true, {}, {}}, {true, false, {}, {}, true}}));
  std::vector<WaitCycle> cycles;
  ASSERT_TRUE(unpack_cycles(numbers({1, 2, 1, 0, 2, 0, 1}), 2, cycles));
  EXPECT_EQ(cycles, (std::vector<WaitCycle>{{{{0}, {0, 1}}}}));
}

TEST(PartnerTables, ComeBackWithAllTheirMarks) {
  std::vector<WaitPattern> sent, read;
  for (const int marks : {0, 1, 2, 3, 4, 5, 6, 7})
    sent.push_back({(marks & 1) != 0, (marks & 2) != 0, {-1}, {2}, (marks & 4) != 0});
  ASSERT_TRUE(unpack_patterns(pack_patterns(sent), read));
  EXPECT_EQ(read, sent);
}

TEST(PartnerTables, WithMoreThanTheirBytesCanHoldAreRefused) {
  for (const std::uint64_t many : {std::uint64_t{3}, std::uint64_t{1'000'000'000}, ~std::uint64_t{0}}) {
    EXPECT_FALSE(are_patterns({many}));
    EXPECT_FALSE(are_patterns({1, 0, many, ahead(1)}));
    EXPECT_FALSE(are_patterns({1, 0, 0, many, ahead(1)}));
    EXPECT_FALSE(are_cycles({many}));
    EXPECT_FALSE(are_cycles({1, many, 0}));
    EXPECT_FALSE(are_cycles({1, 1, many, 0}));
  }
}

TEST(PartnerTables, WithImpossibleDistancesAreRefused) {
  EXPECT_FALSE(are_patterns({1, 0, 1, 0, 0})) << "a rank waits for itself";
  EXPECT_FALSE(are_patterns({1, 0, 2, ahead(1), 0, 0})) << "the same twice";
  EXPECT_FALSE(are_patterns({1, 0, 2, ahead(2), behind(1), 0})) << "they descend";
  EXPECT_FALSE(are_patterns({1, 0, 1, ahead(kMaxRanks), 0}));
  EXPECT_FALSE(are_patterns({1, 0, 1, behind(kMaxRanks), 0}));
  EXPECT_TRUE(are_patterns({1, 0, 1, ahead(kMaxRanks - 1), 0}));
}

TEST(PartnerTables, OfPatternsThatNobodyDefinedAreRefused) {
  EXPECT_TRUE(are_cycles({1, 1, 1, 2}));
  EXPECT_FALSE(are_cycles({1, 1, 1, 3}));
  EXPECT_FALSE(are_cycles({1, 1, 1, ~std::uint64_t{0}}));
  EXPECT_FALSE(are_cycles({1, 0})) << "a cycle of no steps";
  std::vector<RankInfo> ranks(2);
  EXPECT_TRUE(unpack_followed(numbers({ahead(3), behind(3)}), 3, ranks));
  EXPECT_EQ(ranks[0].cycle, 3u);
  EXPECT_FALSE(unpack_followed(numbers({ahead(4), behind(3)}), 3, ranks));
  EXPECT_FALSE(unpack_followed(numbers({behind(1), ahead(1)}), 3, ranks));
  EXPECT_FALSE(unpack_followed(numbers({ahead(1)}), 3, ranks));
  EXPECT_FALSE(unpack_followed(numbers({ahead(1), 0, 0}), 3, ranks));
}

TEST(PartnerTables, ThatWereDamagedAreRefusedOrReadAsSomethingSound) {
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Roster roster;
    add_random_partners(random, roster);
    std::vector<std::byte> patterns = pack_patterns(roster.patterns), cycles = pack_cycles(roster.cycles);
    for (auto* bytes : {&patterns, &cycles}) {
      (*bytes)[random.below(bytes->size())] ^= static_cast<std::byte>(1 + random.below(255));
      if (random.once_in(3)) bytes->resize(random.below(bytes->size()));
    }
    std::vector<WaitPattern> read_patterns;
    std::vector<WaitCycle> read_cycles;
    if (unpack_patterns(patterns, read_patterns)) {
      std::vector<WaitPattern> again;
      ASSERT_TRUE(unpack_patterns(pack_patterns(read_patterns), again));
      ASSERT_EQ(again, read_patterns);
    }
    if (!unpack_cycles(cycles, roster.patterns.size(), read_cycles)) continue;
    for (const WaitCycle& cycle : read_cycles) {
      ASSERT_FALSE(cycle.steps.empty());
      for (const auto& step : cycle.steps)
        for (const std::uint32_t pattern : step) ASSERT_LT(pattern, roster.patterns.size());
    }
  }
}

}  // namespace
}  // namespace idlewave::wire
