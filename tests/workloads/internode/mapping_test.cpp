// The topology problem: closed forms against counting one by one, and blocks against all there is.

#include "workloads/internode/mapping.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/any_seed.h"

namespace idlewave::internode {
namespace {

using testing::ElementsAre;

constexpr Machine kLectures{2, 8, 8};

std::int64_t across_nodes(Mapping mapping, const Grid& grid, const Machine& machine) {
  return links_of(mapping, grid, machine).across_nodes;
}

// rabenseifner-2007, slide "The Topology Problem": 2 nodes with 8 processors each.
TEST(Mapping, CutsAsManyLinksAsTheLectureSays) {
  const Grid grid{{2, 8}};
  EXPECT_EQ(across_nodes(Mapping::kRoundRobin, grid, kLectures), 14);
  EXPECT_EQ(across_nodes(Mapping::kSequential, grid, kLectures), 8);
  EXPECT_EQ(across_nodes(Mapping::kBest, grid, kLectures), 2);
}

std::vector<int> divisors_of(int number) {
  std::vector<int> divisors;
  for (int each = 1; each <= number; ++each)
    if (number % each == 0) divisors.push_back(each);
  return divisors;
}

template <class T>
const T& any_of(const std::vector<T>& values, std::mt19937& random) {
  return values[std::uniform_int_distribution<std::size_t>{0, values.size() - 1}(random)];
}

TEST(Mapping, HasTheLinksThatAreThereWhenTheyAreCountedOneByOne) {
  std::mt19937 random(any_seed());
  for (int round = 0; round < 500; ++round) {
    Grid grid;
    const int sides = std::uniform_int_distribution<>{1, 3}(random);
    for (int side = 0; side < sides; ++side) grid.sides.push_back(std::uniform_int_distribution<>{1, 12}(random));
    const int of_node = any_of(divisors_of(int(grid.cells())), random);
    const Machine machine{int(grid.cells()) / of_node, of_node, any_of(divisors_of(of_node), random)};
    for (const Mapping mapping : {Mapping::kRoundRobin, Mapping::kSequential, Mapping::kBest}) {
      const auto cells = cells_by_place(mapping, grid, machine);
      std::vector<std::int64_t> each(std::size_t(grid.cells()));
      std::iota(each.begin(), each.end(), 0);
      ASSERT_TRUE(std::ranges::is_permutation(cells, each)) << name_of(mapping);
      ASSERT_EQ(links_of(mapping, grid, machine), count_links(cells, grid, machine))
          << name_of(mapping) << " " << testing::PrintToString(grid.sides) << " on " << machine.nodes << " nodes of "
          << of_node << ", sockets of " << machine.ranks_per_socket;
    }
    for (const Mapping other : {Mapping::kRoundRobin, Mapping::kSequential})
      ASSERT_LE(across_nodes(Mapping::kBest, grid, machine), across_nodes(other, grid, machine))
          << testing::PrintToString(grid.sides) << " on " << machine.nodes << " nodes of " << of_node;
  }
}

/// Of all ways to give half of the cells to either node.
std::int64_t fewest_links_between_two_nodes(const Grid& grid) {
  const int cells = int(grid.cells());
  std::vector<std::int64_t> order(std::size_t(cells), 0);
  std::fill(order.begin() + cells / 2, order.end(), 1);
  std::int64_t fewest = grid.cells() * 3;
  do {
    std::int64_t links = 0;
    for (std::int64_t cell = 0; cell < cells; ++cell)
      for (const std::int64_t other : neighbours_of(cell, grid))
        links += other > cell && order[std::size_t(cell)] != order[std::size_t(other)];
    fewest = std::min(fewest, links);
  } while (std::ranges::next_permutation(order).found);
  return fewest;
}

TEST(Mapping, InBlocksIsTheBestThatThereIsForTwoNodes) {
  for (const std::vector<int>& sides : {std::vector{2, 8}, {4, 4}, {2, 2, 4}, {6, 2}, {3, 4}}) {
    const Grid grid{sides};
    const Machine machine{2, int(grid.cells()) / 2, int(grid.cells()) / 2};
    EXPECT_EQ(across_nodes(Mapping::kBest, grid, machine), fewest_links_between_two_nodes(grid))
        << testing::PrintToString(sides);
  }
}

TEST(Mapping, FillsNodesWhereThatCutsFewerLinksThanBlocksDo) {
  const Machine three{3, 5, 5};
  EXPECT_EQ(across_nodes(Mapping::kSequential, {{5, 3}}, three), 8);
  for (const std::vector<int>& sides : {std::vector{5, 3}, {3, 5}})  // in blocks 10: a line of five for each node
    EXPECT_EQ(across_nodes(Mapping::kBest, {sides}, three), 8) << testing::PrintToString(sides);
}

TEST(Mapping, HasNoBlocksWhereNoneMakeUpTheGrid) {
  EXPECT_FALSE(best_blocks({{5, 6}}, {2, 15, 4}));
  EXPECT_FALSE(best_blocks({{4, 9}}, {2, 18, 4})) << "a block of 2 x 9 has none of 4 in it";
  EXPECT_THAT(best_blocks({{4, 10}}, {8, 5, 5})->node, ElementsAre(1, 5));
}

TEST(Mapping, OfMillionsOfProcessesTakesNoTime) {
  const Links links = links_of(Mapping::kSequential, {{1000, 1000, 100}}, {1000, 100'000, 10});
  EXPECT_EQ(links.all, 999 * 100'000 + 999 * 100'000 + 99 * 1'000'000);
  EXPECT_EQ(links.across_nodes, 999 * 100'000) << "a node has a plane";
}

}  // namespace
}  // namespace idlewave::internode
