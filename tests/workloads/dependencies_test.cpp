// Dependencies of collectives against Fig. 10 and section 4.3 of widener-2016, and against counts of what can be reached
// by the messages of each algorithm.
#include "workloads/theory/dependencies.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "tests/any_seed.h"

namespace idlewave::theory {
namespace {

using Messages = std::vector<std::pair<std::uint32_t, std::uint32_t>>;  // from, to
using Rounds = std::vector<Messages>;

Rounds dissemination(std::uint32_t ranks) {
  Rounds rounds;
  for (std::uint32_t step = 1; step < ranks; step *= 2) {
    rounds.emplace_back();
    for (std::uint32_t rank = 0; rank < ranks; ++rank) rounds.back().emplace_back(rank, (rank + step) % ranks);
  }
  return rounds;
}

/// Fig. 10(b): round 1 from 0 to 1, round 2 from 0 to 2 and from 1 to 3, and so on.
Rounds broadcast(std::uint32_t ranks) {
  Rounds rounds;
  for (std::uint32_t step = 1; step < ranks; step *= 2) {
    rounds.emplace_back();
    for (std::uint32_t rank = 0; rank < step && rank + step < ranks; ++rank)
      rounds.back().emplace_back(rank, rank + step);
  }
  return rounds;
}

/// From whom something has come to each rank, round by round.
std::vector<std::vector<bool>> heard(const Rounds& rounds, std::uint32_t ranks) {
  std::vector<std::vector<bool>> known(ranks, std::vector<bool>(ranks));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) known[rank][rank] = true;
  for (const Messages& round : rounds) {
    const auto before = known;
    for (const auto& [from, to] : round)
      for (std::uint32_t rank = 0; rank < ranks; ++rank)
        if (before[from][rank]) known[to][rank] = true;
  }
  return known;
}

struct Counts {
  std::uint64_t direct = 0, all = 0;
  std::vector<std::uint32_t> on, of;  // on how many a rank depends, and how many on it
};

Counts counted(const Rounds& rounds, std::uint32_t ranks) {
  Counts counts{.on = std::vector<std::uint32_t>(ranks), .of = std::vector<std::uint32_t>(ranks)};
  for (const Messages& round : rounds) counts.direct += round.size();
  const auto known = heard(rounds, ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t other = 0; other < ranks; ++other) {
      if (other == rank || !known[rank][other]) continue;
      ++counts.all;
      ++counts.on[rank];
      ++counts.of[other];
    }
  }
  return counts;
}

// Fig. 10: eight ranks, three rounds. (a) every rank hears of one other in each; (b) seven messages, and "all of the nodes
// are dependent on n_0 but n_0 has no dependencies".
TEST(Dependencies, AreThoseOfEightRanksInFigure10) {
  EXPECT_EQ(collective_rounds(8), 3);
  EXPECT_EQ(dissemination_direct(8), 24u);
  EXPECT_EQ(dissemination_all(8), 56u);
  EXPECT_EQ(tree_direct(8), 7u);
  EXPECT_EQ(tree_all(8), 12u);
  EXPECT_EQ(tree_descendants(0, 8), 7u);
  EXPECT_EQ(tree_ancestors(0), 0);
  EXPECT_EQ(tree_ancestors(7), 3);
  EXPECT_EQ(tree_descendants(7, 8), 0u);
}

// Section 4.3: "for a collective with 32Ki participants, the dissemination algorithm will generate more than 15 times as
// many direct dependencies".
TEST(Dependencies, AreMoreThanFifteenTimesAsManyByDisseminationAmong32Ki) {
  constexpr std::uint32_t kRanks = 32 * 1024;
  EXPECT_GT(double(dissemination_direct(kRanks)) / double(tree_direct(kRanks)), 15);
  EXPECT_EQ(dissemination_all(kRanks), 32768ull * 32767);
  EXPECT_EQ(tree_all(kRanks), 32768ull / 2 * 15);
}

TEST(Dependencies, AreThoseThatMessagesMakeOfAnyNumberOfRanks) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::vector<std::uint32_t> sizes = {1, 2, 3, 4, 5, 7, 9};
  for (int i = 0; i < 12; ++i) sizes.push_back(1 + random() % 200);
  for (const std::uint32_t ranks : sizes) {
    SCOPED_TRACE(ranks);
    const Counts ring = counted(dissemination(ranks), ranks), tree = counted(broadcast(ranks), ranks);
    EXPECT_EQ(dissemination_direct(ranks), ring.direct);
    EXPECT_EQ(dissemination_all(ranks), ring.all);
    EXPECT_EQ(tree_direct(ranks), tree.direct);
    EXPECT_EQ(tree_all(ranks), tree.all);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(std::uint32_t(tree_ancestors(rank)), tree.on[rank]) << rank;
      EXPECT_EQ(tree_descendants(rank, ranks), tree.of[rank]) << rank;
    }
  }
}

}  // namespace
}  // namespace idlewave::theory
