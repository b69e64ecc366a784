#include "workloads/contention/options.h"

#include <fmt/format.h>

#include <limits>

#include "probe/words/quantity.h"
#include "workloads/ranks/flags.h"

namespace idlewave::contention {
namespace {

using arguments::CommandLine;
using wire::Error;
using wire::Result;

constexpr const char* kAbout =
    "iw-contention: what communication and computation cost each other where both move memory. One rank of each memory "
    "domain sends to the\none of the next domain, in a ring; none, one, two and so on of the others run the STREAM "
    "triad. Start it with mpirun and one rank on\neach core. Paper: LCS18 = Langguth, Cai, Sourouri: Memory bandwidth "
    "contention: communication vs computation tradeoffs in\nsupercomputers with multicore architectures, 2018, section "
    "III and Fig. 2.";

Result<int> parse_message_size(std::string_view text) {
  constexpr std::uint64_t kLeast = sizeof(std::uint64_t);
  const auto bytes = words::parse_bytes(text);
  if (!bytes) return bytes.error();
  if (*bytes < kLeast || *bytes > std::numeric_limits<int>::max())
    return Error{fmt::format("\"{}\" is not a size from {} B to 2147483647 B", text, kLeast)};
  return static_cast<int>(*bytes);
}

Result<wire::Nanoseconds> parse_length(std::string_view text) {
  const auto duration = words::parse_duration(text);
  if (duration && duration->count() == 0) return Error{"must be above zero"};
  return duration;
}

}  // namespace

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv) {
  Options o;
  CommandLine app{kAbout, "iw-contention"};
  app.wrap_help();
  app.add_version("iw-contention " IDLEWAVE_VERSION);
  ranks::add(app, "--message-size", o.message_size, parse_message_size, "Size of a message (LCS18 sec. III). [4MB]")
      .type_name("SIZE");
  ranks::add(app, "--duration", o.duration, parse_length,
             "How long each measurement takes; there are two for each number of contenders. [500ms]")
      .type_name("DURATION");
  ranks::add(app, "--ranks-per-domain", o.ranks_per_domain, ranks::whole<int, 1, 1'000'000>,
             "So many ranks, in their order, are taken for those of a domain. [those of a NUMA node]")
      .type_name("N");
  app.add_flag("--pin,!--no-pin", o.pin,
               "Pin ranks to cores in turn, unless the launcher has bound them already (LCS18 sec. III). [--pin]");
  app.add_flag("--json", o.json, "Print what was measured as one JSON object instead of a table.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, "iw-contention");
    return std::variant<Options, Text>{Text{ending->text}};
  }
  return std::variant<Options, Text>{o};
}

}  // namespace idlewave::contention
