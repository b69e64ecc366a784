// Sums of MPI calls, as strangers may write them. That sound ones come back as they were is tried with whole frames.

#include "probe/wire/call_tables.h"

#include <gtest/gtest.h>

#include "probe/wire/varint.h"

namespace idlewave::wire {
namespace {

std::vector<std::byte> numbers(std::initializer_list<std::uint64_t> values) {
  std::vector<std::byte> bytes;
  for (const std::uint64_t value : values) append_varint(bytes, value);
  return bytes;
}

bool are_calls(std::initializer_list<std::uint64_t> values) {
  std::vector<RankCalls> calls;
  return unpack_calls(numbers(values), calls);
}

constexpr std::uint64_t more(std::uint64_t difference) { return 2 * difference; }
constexpr std::uint64_t less(std::uint64_t difference) { return 2 * difference - 1; }

TEST(CallTables, AreReadAsTheyAreDescribed) {
  std::vector<RankCalls> calls;
  ASSERT_TRUE(unpack_calls(numbers({
                               1, 2,       'a', 'b',                      // a name
                               1, more(8), 100,                           // rank 7, process 100
                               1, 0,       10,  20,  3,       4000, 900,  // "ab"
                               2, less(2), 5,   6,   more(4), 7,    8,   9, 11,
                           }),
                           calls));
  const RankCalls expected{.rank = 7,
                           .pid = 100,
                           .functions = {{"ab", 10, 20, 3, Nanoseconds(4000), Nanoseconds(900)}},
                           .pairs = {{5, 5, 6}, {9, 7, 8}},
                           .other_messages = 9,
                           .other_bytes = 11};
  EXPECT_EQ(calls, std::vector{expected});
  EXPECT_EQ(pack_calls(calls), numbers({1,    2,   'a', 'b',     1, more(8), 100,     1, 0, 10, 20, 3,
                                        4000, 900, 2,   less(2), 5, 6,       more(4), 7, 8, 9,  11}));
}

TEST(CallTables, WithMoreThanTheirBytesCanHoldAreRefused) {
  for (const std::uint64_t many : {std::uint64_t{3}, std::uint64_t{1'000'000'000}, ~std::uint64_t{0}}) {
    EXPECT_FALSE(are_calls({many}));
    EXPECT_FALSE(are_calls({1, many, 'a', 0}));
    EXPECT_FALSE(are_calls({0, many}));
    EXPECT_FALSE(are_calls({0, 1, more(1), 100, many, 0, 0, 0}));
    EXPECT_FALSE(are_calls({0, 1, more(1), 100, 0, many, 0, 0}));
  }
}

TEST(CallTables, WithWhatCanNotBeAreRefused) {
  EXPECT_TRUE(are_calls({0, 1, more(1), 100, 0, 0, 0, 0}));
  EXPECT_FALSE(are_calls({0, 1, more(1), 100, 0, 0, 0, 0, 0})) << "something behind them";
  EXPECT_FALSE(are_calls({0, 1, more(0), 100, 0, 0, 0, 0})) << "rank -1";
  EXPECT_FALSE(are_calls({0, 1, more(kMaxRanks + 1), 100, 0, 0, 0, 0}));
  EXPECT_FALSE(are_calls({0, 1, more(1), std::uint64_t{1} << 31, 0, 0, 0, 0}));
  EXPECT_FALSE(are_calls({0, 1, more(1), 100, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0})) << "a function without a name";
  EXPECT_FALSE(are_calls({1, 0, 1, more(1), 100, 1, 0, 1, 1, 1, std::uint64_t{1} << 63, 1, 0, 0, 0}));
  EXPECT_FALSE(are_calls({0, 1, more(1), 100, 0, 2, more(3), 1, 1, more(0), 1, 1, 0, 0})) << "the same twice";
  EXPECT_FALSE(are_calls({0, 1, more(1), 100, 0, 2, more(3), 1, 1, less(1), 1, 1, 0, 0})) << "they descend";
}

TEST(CallTables, SayHowManyCallsNobodyHasSeenOfEachRank) {
  std::vector<RankCalls> calls(3);
  EXPECT_TRUE(pack_unseen(calls).empty());
  calls[1].unseen = 300;
  EXPECT_EQ(pack_unseen(calls), numbers({0, 300, 0}));
  EXPECT_TRUE(unpack_unseen(numbers({7, 0, 8}), calls));
  EXPECT_EQ(calls[0].unseen, 7u);
  EXPECT_EQ(calls[1].unseen, 0u);
  EXPECT_EQ(calls[2].unseen, 8u);
  EXPECT_FALSE(unpack_unseen(numbers({7, 0}), calls)) << "of somebody it is not said";
  EXPECT_FALSE(unpack_unseen(numbers({7, 0, 8, 9}), calls)) << "of nobody it is said";
}

}  // namespace
}  // namespace idlewave::wire
