#pragma once
// The topology problem: which cell of a Cartesian process grid goes to which place of a machine, and how many of the
// grid's links then lead to another node or socket (rabenseifner-2007, slide "The Topology Problem"). Pure.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "probe/words/choice.h"

namespace idlewave::internode {

/// Cells in rows: the last coordinate runs fastest. Neighbours in a coordinate are linked; the grid is open.
struct Grid {
  std::vector<int> sides;

  std::int64_t cells() const;
  std::int64_t stride(std::size_t side) const;  ///< From a cell to its neighbour in that coordinate, in their order.
  std::int64_t links(std::size_t side) const;   ///< In that coordinate.
};

/// Equal nodes of equal sockets. Places are numbered node by node.
struct Machine {
  int nodes = 1;
  int ranks_per_node = 1;
  int ranks_per_socket = 1;  ///< Divides ranks_per_node.
};

enum class Mapping {
  kRoundRobin,  ///< Cell i on node i mod nodes.
  kSequential,  ///< Nodes are filled in the order of cells.
  /// Each node has a block of cells, each socket a block of that, with as few links cut as blocks can; or nodes are filled
  /// in that order of the coordinates in which the fewest are cut, where these are fewer, or no blocks make up the grid.
  kBest,
};
inline constexpr words::Choices<Mapping, 3> kMappings{
    {{"round-robin", Mapping::kRoundRobin}, {"sequential", Mapping::kSequential}, {"best", Mapping::kBest}}};
inline std::string_view name_of(Mapping mapping) { return words::word_of(mapping, kMappings); }

/// Sides of the blocks of which kBest can be made. Nothing where no blocks of that many cells make up the grid.
struct Blocks {
  std::vector<int> node;
  std::vector<int> socket;
};
std::optional<Blocks> best_blocks(const Grid& grid, const Machine& machine);

/// The cell of each place.
std::vector<std::int64_t> cells_by_place(Mapping mapping, const Grid& grid, const Machine& machine);

/// Links of the grid.
struct Links {
  std::int64_t all = 0;
  std::int64_t across_nodes = 0;
  std::int64_t across_sockets = 0;  ///< To another socket of the node.

  bool operator==(const Links&) const = default;
};

/// In closed form: O(sockets), whatever the grid has of cells.
Links links_of(Mapping mapping, const Grid& grid, const Machine& machine);

/// One by one.
Links count_links(const std::vector<std::int64_t>& cell_of_place, const Grid& grid, const Machine& machine);

/// Of a cell.
std::vector<std::int64_t> neighbours_of(std::int64_t cell, const Grid& grid);

}  // namespace idlewave::internode
