#include "workloads/progress/options.h"

#include <fmt/format.h>

#include <limits>

#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "workloads/ranks/flags.h"

namespace idlewave::progress {
namespace {

using arguments::CommandLine;
using wire::Error;
using wire::Result;

constexpr const char* kAbout =
    "iw-progress: does a nonblocking communication of this MPI go on while its caller works? One rank starts it, works "
    "and waits, the other\none sends or receives with a call that blocks; over the time of work, the total is "
    "max(work, communication) if it does, and their sum if\nnot. Start it with mpirun -n 2; on two nodes it is told of "
    "their network. Paper: SFHW11 = Schubert, Fehske, Hager, Wellein:\nHybrid-parallel sparse matrix-vector "
    "multiplication with explicit communication overlap, 2011, listing 2 and Fig. 4.";

Result<int> parse_size(std::string_view text) {
  const auto bytes = words::parse_bytes_within(text, 1, std::numeric_limits<int>::max());
  if (!bytes) return bytes.error();
  return static_cast<int>(*bytes);
}

Result<std::vector<int>> parse_sizes(std::string_view text) {
  std::vector<int> sizes;
  for (const std::string_view part : words::split(text, ',')) {
    const auto size = parse_size(part);
    if (!size) return size.error();
    sizes.push_back(*size);
  }
  return sizes;
}

void add_measurement(CommandLine& app, Options& o) {
  ranks::add_choice<Directions>(
      app, "--direction", o.directions,
      {{"both", Directions::kBoth}, {"receive", Directions::kReceive}, {"send", Directions::kSend}},
      "What does not block: receive, MPI_Irecv, and the other rank calls MPI_Send; send, MPI_Isend, and the other rank "
      "calls MPI_Recv; both, one after the other (SFHW11 sec. 3.1). [both]")
      .type_name("NAME");
  ranks::add(
      app, "--message-size", o.sizes, parse_sizes,
      "Sizes of messages. MPI sends small ones eagerly, large ones by rendezvous, and may treat them unlike; the "
      "paper's are 80 MB. [1kB,100kB,20MB]")
      .type_name("SIZE,...");
  ranks::add(app, "--points", o.points, ranks::whole<int, 2, 1000>,
             "Times of work, evenly from none to twice what the communication takes alone (SFHW11 Fig. 4). [9]")
      .type_name("N");
  ranks::add(app, "--repetitions", o.repetitions, ranks::whole<int, 1, 100'000>, "Trials of each. [9]").type_name("N");
  app.add_flag("--json", o.json, "Print what was measured as one JSON object instead of tables.");
}

}  // namespace

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv, int ranks) {
  Options options;
  CommandLine app{kAbout, "iw-progress"};
  app.put_texts_below();
  app.add_version("iw-progress " IDLEWAVE_VERSION);
  add_measurement(app, options);
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, "iw-progress");
    return std::variant<Options, Text>{Text{ending->text}};
  }
  if (ranks != 2) return Error{fmt::format("this takes two ranks, not {}; start it with mpirun -n 2", ranks)};
  return std::variant<Options, Text>{std::move(options)};
}

}  // namespace idlewave::progress
