#include "workloads/contention/options.h"

#include <fmt/format.h>

#include <limits>

#include "probe/words/quantity.h"
#include "probe/words/text.h"
#include "workloads/ranks/flags.h"

namespace idlewave::contention {
namespace {

using arguments::CommandLine;
using wire::Error;
using wire::Result;

constexpr const char* kAbout =
    "iw-contention: what communication and computation cost each other where both move memory. One rank of each memory "
    "domain sends to the\none of the next domain, in a ring; none, one, two and so on of the others run the STREAM "
    "triad. Then a program in time steps, which overlaps both, is held against the model of what a step takes. Start "
    "it with mpirun and one rank on\neach core. Paper: LCS18 = Langguth, Cai, Sourouri: Memory bandwidth contention: "
    "communication vs computation tradeoffs in\nsupercomputers with multicore architectures, 2018, section III and "
    "Fig. 2; section IV and Table II.";

Result<int> parse_message_size(std::string_view text) {
  const auto bytes = words::parse_bytes_within(text, sizeof(std::uint64_t), std::numeric_limits<int>::max());
  if (!bytes) return bytes.error();
  return static_cast<int>(*bytes);
}

Result<wire::Nanoseconds> parse_length(std::string_view text) {
  const auto duration = words::parse_duration(text);
  if (duration && duration->count() == 0) return Error{"must be above zero"};
  return duration;
}

Result<std::vector<std::uint64_t>> parse_volumes(std::string_view text) {
  std::vector<std::uint64_t> volumes;
  for (const std::string_view word : words::split(text, ',')) {
    const auto bytes = words::parse_bytes(words::trimmed(word));
    if (!bytes) return bytes.error();
    if (*bytes == 0) return Error{"a step that moves nothing has no time"};
    volumes.push_back(*bytes);
  }
  return volumes;
}

void add_steps(CommandLine& app, Options& o) {
  ranks::add(
      app, "--step-volumes", o.step_volumes, parse_volumes,
      "What the contenders of a domain move in a time step, all together, while one message is sent: the rows of "
      "LCS18 Table II. [64MB,32MB,16MB,8MB,4MB,2MB]")
      .type_name("SIZE,...");
  ranks::add(
      app, "--steps", o.steps, ranks::whole<int, 0, 1'000'000'000>,
      "Time steps of each volume: with the triad alone, the message alone and both; the middle one counts. 0: none. "
      "[20]")
      .type_name("N");
}

void add_kernel(CommandLine& app, Options& o) {
  ranks::add_choice<Kernel>(
      app, "--kernel", o.kernel, ranks::kKernels,
      "virtual: the triad and the memory's part of a message are waited for on a virtual socket, so that as many ranks "
      "contend as wanted on any machine. [real]")
      .type_name("NAME");
  ranks::add(app, "--core-bandwidth", o.core_bandwidth, words::parse_bandwidth,
             "kernel virtual: memory bandwidth of a rank that is alone. [1 GB/s]")
      .type_name("RATE");
  ranks::add(app, "--domain-bandwidth", o.domain_bandwidth, words::parse_bandwidth,
             "kernel virtual: saturated bandwidth of a socket. [5 GB/s]")
      .type_name("RATE");
}

wire::Status check(const CommandLine& app, Options& o) {
  constexpr int kUsualSocket = 8;
  for (const char* flag : {"--core-bandwidth", "--domain-bandwidth"})
    if (app.count(flag) > 0 && o.kernel == Kernel::kReal)
      return Error{fmt::format("{} belongs to --kernel virtual", flag)};
  if (o.kernel == Kernel::kVirtual && o.ranks_per_domain == 0) o.ranks_per_domain = kUsualSocket;
  return wire::ok();
}

}  // namespace

Result<std::variant<Options, Text>> parse_options(int argc, const char* const* argv) {
  Options o;
  CommandLine app{kAbout, "iw-contention"};
  app.put_texts_below();
  app.add_version("iw-contention " IDLEWAVE_VERSION);
  ranks::add(app, "--message-size", o.message_size, parse_message_size, "Size of a message (LCS18 sec. III). [4MB]")
      .type_name("SIZE");
  ranks::add(app, "--duration", o.duration, parse_length,
             "How long each measurement takes; there are two for each number of contenders. [500ms]")
      .type_name("DURATION");
  ranks::add(
      app, "--ranks-per-domain", o.ranks_per_domain, ranks::whole<int, 1, 1'000'000>,
      "So many ranks, in their order, are taken for those of a domain. [those of a NUMA node; kernel virtual: 8]")
      .type_name("N");
  add_steps(app, o);
  add_kernel(app, o);
  app.add_flag("--pin,!--no-pin", o.pin,
               "Pin ranks to cores in turn, unless the launcher has bound them already (LCS18 sec. III). [--pin]");
  app.add_flag("--json", o.json, "Print what was measured as one JSON object instead of a table.");
  if (const auto ending = app.parse(argc, argv)) {
    if (ending->refused) return ranks::refusal(*ending, "iw-contention");
    return std::variant<Options, Text>{Text{ending->text}};
  }
  if (const auto checked = check(app, o); !checked) return checked.error();
  return std::variant<Options, Text>{o};
}

}  // namespace idlewave::contention
