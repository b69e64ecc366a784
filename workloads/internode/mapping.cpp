#include "workloads/internode/mapping.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

namespace idlewave::internode {
namespace {

int coordinate(std::int64_t cell, const Grid& grid, std::size_t side) {
  return int(cell / grid.stride(side) % grid.sides[side]);
}

/// Those of the links of one coordinate whose ends lie on either side of `boundary`, in the order of cells: the lower end
/// is one of the `stride` cells before it, of which the last `rest` have another coordinate than those before them.
std::int64_t links_across(std::int64_t boundary, std::int64_t stride, std::int64_t side) {
  const std::int64_t before = boundary / stride, rest = boundary % stride;
  return (before % side != 0 ? stride - rest : 0) + (before % side != side - 1 ? rest : 0);
}

/// Of the links of one coordinate those whose ends lie in different parts of `part` cells, which follow one another. None
/// leads over two boundaries, unless it is so long that all of them lead over one.
std::int64_t links_between_parts(std::int64_t cells, std::int64_t stride, std::int64_t side, std::int64_t part) {
  if (stride >= part) return cells / side * (side - 1);
  std::int64_t links = 0;
  for (std::int64_t boundary = part; boundary < cells; boundary += part) links += links_across(boundary, stride, side);
  return links;
}

Links round_robin_links(const Grid& grid, const Machine& machine) {
  Links links;
  for (std::size_t side = 0; side < grid.sides.size(); ++side) {
    links.all += grid.links(side);
    // All links of a coordinate lead equally far, so they lead to the same node all or none. Those that stay link the
    // cells of a node as those of a grid that is so many times shorter.
    const std::int64_t stride = grid.stride(side);
    if (stride % machine.nodes != 0)
      links.across_nodes += grid.links(side);
    else
      links.across_sockets += machine.nodes * links_between_parts(machine.ranks_per_node, stride / machine.nodes,
                                                                  grid.sides[side], machine.ranks_per_socket);
  }
  return links;
}

Links sequential_links(const Grid& grid, const Machine& machine) {
  Links links;
  for (std::size_t side = 0; side < grid.sides.size(); ++side) {
    const auto between = [&](int part) {
      return links_between_parts(grid.cells(), grid.stride(side), grid.sides[side], part);
    };
    links.all += grid.links(side);
    links.across_nodes += between(machine.ranks_per_node);
    links.across_sockets += between(machine.ranks_per_socket) - between(machine.ranks_per_node);
  }
  return links;
}

/// Links between blocks of these sides, of which a larger block is made.
std::int64_t links_between_blocks(const std::vector<int>& whole, const std::vector<int>& block) {
  const std::int64_t cells = std::accumulate(whole.begin(), whole.end(), std::int64_t{1}, std::multiplies<>());
  std::int64_t links = 0;
  for (std::size_t side = 0; side < whole.size(); ++side)
    links += (whole[side] / block[side] - 1) * (cells / whole[side]);
  return links;
}

Links block_links(const Grid& grid, const Machine& machine, const Blocks& blocks) {
  Links links;
  for (std::size_t side = 0; side < grid.sides.size(); ++side) links.all += grid.links(side);
  links.across_nodes = links_between_blocks(grid.sides, blocks.node);
  links.across_sockets = machine.nodes * links_between_blocks(blocks.node, blocks.socket);
  return links;
}

/// Calls `with` for all blocks of `cells` cells of which `whole` can be made up.
void for_each_block(const std::vector<int>& whole, int cells, std::vector<int>& block,
                    const std::function<void(const std::vector<int>&)>& with) {
  if (block.size() == whole.size()) {
    if (cells == 1) with(block);
    return;
  }
  for (int side = 1; side <= std::min(whole[block.size()], cells); ++side) {
    if (whole[block.size()] % side != 0 || cells % side != 0) continue;
    block.push_back(side);
    for_each_block(whole, cells / side, block, with);
    block.pop_back();
  }
}

/// The one that cuts the fewest links.
std::optional<std::vector<int>> best_block(const std::vector<int>& whole, int cells) {
  std::optional<std::vector<int>> best;
  std::vector<int> block;
  for_each_block(whole, cells, block, [&](const std::vector<int>& found) {
    if (!best || links_between_blocks(whole, found) < links_between_blocks(whole, *best)) best = found;
  });
  return best;
}

bool cuts_fewer(const Links& one, const Links& other) {
  return std::pair(one.across_nodes, one.across_sockets) < std::pair(other.across_nodes, other.across_sockets);
}

/// Coordinates in the order in which cells are counted, the one that runs fastest last.
using Order = std::vector<std::size_t>;

Grid in_order(const Grid& grid, const Order& order) {
  Grid counted;
  for (const std::size_t side : order) counted.sides.push_back(grid.sides[side]);
  return counted;
}

/// The one in which nodes that are filled cut the fewest links.
Order best_order(const Grid& grid, const Machine& machine) {
  Order order(grid.sides.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Order best = order;
  while (std::ranges::next_permutation(order).found)
    if (cuts_fewer(sequential_links(in_order(grid, order), machine), sequential_links(in_order(grid, best), machine)))
      best = order;
  return best;
}

/// Of kBest: the blocks, or the order in which nodes are filled where that cuts fewer links.
struct Best {
  std::optional<Blocks> blocks;
  Order order;
  Links links;
};

Best best_of(const Grid& grid, const Machine& machine) {
  Best best{.blocks = best_blocks(grid, machine), .order = best_order(grid, machine), .links = {}};
  best.links = sequential_links(in_order(grid, best.order), machine);
  if (!best.blocks) return best;
  const Links of_blocks = block_links(grid, machine, *best.blocks);
  if (cuts_fewer(best.links, of_blocks))
    best.blocks.reset();
  else
    best.links = of_blocks;
  return best;
}

/// The cell that is number `count` in another order of the coordinates.
std::int64_t cell_of(std::int64_t count, const Grid& grid, const Order& order) {
  const Grid counted = in_order(grid, order);
  std::int64_t cell = 0;
  for (std::size_t i = 0; i < order.size(); ++i) cell += coordinate(count, counted, i) * grid.stride(order[i]);
  return cell;
}

/// Appends the cells of the part of a grid that begins at `first` and has these sides, block by block.
void append_blocks(const Grid& grid, std::int64_t first, const std::vector<int>& sides,
                   const std::vector<std::vector<int>>& blocks, std::size_t depth, std::vector<std::int64_t>& cells) {
  const std::vector<int> ones(sides.size(), 1);
  const std::vector<int>& block = depth < blocks.size() ? blocks[depth] : ones;
  std::vector<int> number(sides.size());
  for (;;) {
    std::int64_t cell = first;
    for (std::size_t side = 0; side < sides.size(); ++side)
      cell += std::int64_t{number[side]} * block[side] * grid.stride(side);
    depth < blocks.size() ? append_blocks(grid, cell, block, blocks, depth + 1, cells) : cells.push_back(cell);
    std::size_t side = sides.size();
    while (side > 0 && ++number[side - 1] == sides[side - 1] / block[side - 1]) number[--side] = 0;
    if (side == 0) return;
  }
}

}  // namespace

std::int64_t Grid::cells() const {
  return std::accumulate(sides.begin(), sides.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Grid::stride(std::size_t side) const {
  return std::accumulate(sides.begin() + std::ptrdiff_t(side) + 1, sides.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t Grid::links(std::size_t side) const { return cells() / sides[side] * (sides[side] - 1); }

std::optional<Blocks> best_blocks(const Grid& grid, const Machine& machine) {
  const auto node = best_block(grid.sides, machine.ranks_per_node);
  if (!node) return std::nullopt;
  const auto socket = best_block(*node, machine.ranks_per_socket);
  if (!socket) return std::nullopt;
  return Blocks{*node, *socket};
}

std::vector<std::int64_t> cells_by_place(Mapping mapping, const Grid& grid, const Machine& machine) {
  std::vector<std::int64_t> cells;
  if (mapping == Mapping::kBest) {
    const Best best = best_of(grid, machine);
    if (best.blocks)
      append_blocks(grid, 0, grid.sides, {best.blocks->node, best.blocks->socket}, 0, cells);
    else
      for (std::int64_t place = 0; place < grid.cells(); ++place) cells.push_back(cell_of(place, grid, best.order));
    return cells;
  }
  for (std::int64_t place = 0; place < grid.cells(); ++place) {
    const std::int64_t node = place / machine.ranks_per_node, on_node = place % machine.ranks_per_node;
    cells.push_back(mapping == Mapping::kSequential ? place : on_node * machine.nodes + node);
  }
  return cells;
}

Links links_of(Mapping mapping, const Grid& grid, const Machine& machine) {
  switch (mapping) {
    case Mapping::kRoundRobin: return round_robin_links(grid, machine);
    case Mapping::kSequential: return sequential_links(grid, machine);
    case Mapping::kBest: break;
  }
  return best_of(grid, machine).links;
}

Links count_links(const std::vector<std::int64_t>& cell_of_place, const Grid& grid, const Machine& machine) {
  std::vector<std::int64_t> place_of_cell(cell_of_place.size());
  for (std::size_t place = 0; place < cell_of_place.size(); ++place)
    place_of_cell[std::size_t(cell_of_place[place])] = std::int64_t(place);
  Links links;
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell) {
    for (const std::int64_t other : neighbours_of(cell, grid)) {
      if (other < cell) continue;
      const std::int64_t from = place_of_cell[std::size_t(cell)], to = place_of_cell[std::size_t(other)];
      ++links.all;
      if (from / machine.ranks_per_node != to / machine.ranks_per_node)
        ++links.across_nodes;
      else if (from / machine.ranks_per_socket != to / machine.ranks_per_socket)
        ++links.across_sockets;
    }
  }
  return links;
}

std::vector<std::int64_t> neighbours_of(std::int64_t cell, const Grid& grid) {
  std::vector<std::int64_t> neighbours;
  for (std::size_t side = 0; side < grid.sides.size(); ++side) {
    const int own = coordinate(cell, grid, side);
    if (own > 0) neighbours.push_back(cell - grid.stride(side));
    if (own + 1 < grid.sides[side]) neighbours.push_back(cell + grid.stride(side));
  }
  return neighbours;
}

}  // namespace idlewave::internode
