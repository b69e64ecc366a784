#include "workloads/internode/topology_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "probe/words/sides.h"
#include "workloads/internode/ranks_per_node.h"
#include "workloads/ranks/count.h"
#include "workloads/ranks/flags.h"

namespace idlewave::internode {
namespace {

using arguments::CommandLine;
using wire::Error;
using wire::Result;
using wire::Status;

constexpr const char* kAboutTopology =
    "iw-topology: a Cartesian grid of processes that exchange messages with their neighbours, mapped to nodes and "
    "sockets round robin, one after the other,\nand in blocks that cut as few links as they can. How many links lead "
    "to another node is worked out, counted, and seen in what is sent. Start it with mpirun and\none rank for each "
    "cell; the default is the lecture's example of 16 processes on two nodes, with 14, 8 and 2 such links. Paper: R07 "
    "= Rabenseifner:\nHybrid parallel programming (lecture, 2007), slide on the topology problem.";

constexpr std::uint64_t kMostMessage = 1 << 30;

Result<Grid> parse_grid(std::string_view text) {
  auto sides = words::parse_sides(text, {.most = 3, .longest = 1'000'000, .example = "2x8"});
  if (!sides) return sides.error();
  return Grid{std::move(*sides)};
}

Result<int> parse_size(std::string_view text) {
  const auto bytes = words::parse_bytes_within(text, sizeof(std::int64_t), kMostMessage);
  if (!bytes) return bytes.error();
  return int(*bytes);
}

void add_program(CommandLine& app, TopologyOptions& o) {
  ranks::add(
      app, "--grid", o.grid, parse_grid,
      "Processes along up to three coordinates, of which the last runs fastest in the order of cells (R07). [2x8]")
      .type_name("XxYxZ");
  ranks::add_choices<Mapping>(
      app, "--mappings", o.mappings, kMappings,
      "round-robin: cell 0 on node 0, cell 1 on node 1 and so on. sequential: nodes are filled one after the "
      "other. best: a node has a block of cells, or is filled along another coordinate where "
      "that cuts fewer links (R07). [round-robin,sequential,best]")
      .type_name("NAME,...");
  add_ranks_per_node(app, o.ranks_per_node);
  ranks::add(app, "--ranks-per-socket", o.ranks_per_socket, ranks::whole<int, 1, kMostRanksPerNode>,
             "So many ranks of a node are taken for those of a socket. [all]")
      .type_name("N");
  ranks::add(app, "--message-size", o.message_size, parse_size, "To each neighbour in each step. [10kB]")
      .type_name("SIZE");
  ranks::add(app, "--steps", o.steps, ranks::whole<std::int64_t, 1, 1'000'000'000>, "With each mapping. [20]")
      .type_name("N");
}

Status check(const CommandLine& app, const TopologyOptions& o, int ranks) {
  if (const Status network = check_network(app, o.network); !network) return network;
  const int most = *std::ranges::max_element(o.grid.sides);
  const double cells = double(o.grid.cells());  // of sides so long that their product has no room it is no use
  if (most > ranks || cells != ranks)
    return Error{fmt::format("--grid: {} has {:.0f} cells, and the job has {}; start it with mpirun -n {:.0f}",
                             fmt::join(o.grid.sides, "x"), cells, ranks::ranks_in_words(ranks), cells)};
  return check_ranks_per_node(o.ranks_per_node, ranks);
}

}  // namespace

Result<std::variant<TopologyOptions, Text>> parse_topology(int argc, const char* const* argv, int ranks) {
  TopologyOptions o;
  CommandLine app{kAboutTopology, ranks::name_called(argv)};
  app.put_texts_below();
  app.add_version("iw-topology " IDLEWAVE_VERSION);
  add_program(app, o);
  add_network(app, o.network);
  app.add_flag("--json", o.json, "Print one JSON object instead of a table.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, app.name());
    return std::variant<TopologyOptions, Text>{Text{ending->text}};
  }
  const Status checked = check(app, o, ranks);
  if (!checked) return checked.error();
  return std::variant<TopologyOptions, Text>{std::move(o)};
}

}  // namespace idlewave::internode
