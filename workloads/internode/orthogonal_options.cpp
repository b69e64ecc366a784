#include "workloads/internode/orthogonal_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "probe/words/whole.h"
#include "workloads/internode/ranks_per_node.h"
#include "workloads/ranks/flags.h"

namespace idlewave::internode {
namespace {

using arguments::CommandLine;
using wire::Result;
using wire::Status;

constexpr const char* kAboutOrthogonal =
    "iw-orthogonal: is it better that all processes of a node send to the next node (vertical) and to each other "
    "(horizontal), as pure MPI does,\nor that one of them sends for all, as hybrid programs do whose first thread "
    "communicates (masteronly)? Over message size, and with 1 to all processes of a node that communicate.\nStart it "
    "with mpirun on two nodes or more, or have ranks taken for nodes. Paper: R07 = Rabenseifner: Hybrid parallel "
    "programming (lecture, 2007),\nslides on the orthogonal parallel communication, its results, and multiple "
    "inter-node communication paths.";

constexpr std::uint64_t kLeastSize = 8, kMostSize = 1 << 30;  // what holds the number of a round

Result<std::vector<int>> parse_sizes(std::string_view text) {
  std::vector<int> sizes;
  for (const std::string_view word : words::split(text, ',')) {
    const auto bytes = words::parse_bytes_within(word, kLeastSize, kMostSize);
    if (!bytes) return bytes.error();
    sizes.push_back(int(*bytes));
  }
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Result<std::vector<int>> parse_numbers(std::string_view text) {
  return words::parse_wholes(text, 1, kMostRanksPerNode);
}

/// As the lecture's figure has them, and on the slower network up to what takes tenths of a second.
std::vector<int> usual_sizes(NetworkKind kind) {
  std::vector<int> sizes;
  const int first = kind == NetworkKind::kReal ? 128 : 2048, last = kind == NetworkKind::kReal ? 2 << 20 : 512 << 10;
  for (int size = first; size <= last; size *= 4) sizes.push_back(size);
  return sizes;
}

Status check(const CommandLine& app, const OrthogonalOptions& o, int ranks) {
  if (const Status network = check_network(app, o.network); !network) return network;
  return check_ranks_per_node(o.ranks_per_node, ranks);
}

}  // namespace

Result<std::variant<OrthogonalOptions, Text>> parse_orthogonal(int argc, const char* const* argv, int ranks) {
  OrthogonalOptions o;
  CommandLine app{kAboutOrthogonal, ranks::name_called(argv)};
  app.put_texts_below();
  app.add_version("iw-orthogonal " IDLEWAVE_VERSION);
  add_ranks_per_node(app, o.ranks_per_node);
  ranks::add(
      app, "--sizes", o.sizes, parse_sizes,
      "Of a message of pure MPI; that of masteronly is so many times as long as a node has processes. [128 B to 2 "
      "MiB; network virtual: 2 KiB to 512 KiB]")
      .type_name("SIZE,...");
  ranks::add(app, "--communicating", o.communicating, parse_numbers,
             "Processes of a node that send for all of it; 1 is masteronly. [1, 2, 4 and so on, and all]")
      .type_name("N,...");
  ranks::add(app, "--rounds", o.rounds, ranks::whole<std::int64_t, 1, 1'000'000'000>,
             "Exchanges of each size in each way. [10]")
      .type_name("N");
  add_network(app, o.network);
  app.add_flag("--json", o.json, "Print one JSON object instead of tables.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, app.name());
    return std::variant<OrthogonalOptions, Text>{Text{ending->text}};
  }
  if (o.sizes.empty()) o.sizes = usual_sizes(o.network.kind);
  const Status checked = check(app, o, ranks);
  if (!checked) return checked.error();
  return std::variant<OrthogonalOptions, Text>{std::move(o)};
}

}  // namespace idlewave::internode
