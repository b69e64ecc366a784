#include "workloads/internode/network_flags.h"

#include <fmt/format.h>

#include <array>

#include "probe/words/quantity.h"
#include "workloads/ranks/flags.h"

namespace idlewave::internode {
namespace {

constexpr std::array<const char*, 4> kOfModel{"--process-bandwidth", "--node-bandwidth", "--memory-bandwidth",
                                              "--latency"};

wire::Result<double> parse_seconds(std::string_view text) {
  const auto duration = words::parse_duration(text);
  if (!duration) return duration.error();
  return std::chrono::duration<double>(*duration).count();
}

}  // namespace

theory::NodeNetwork slow_sr8000() {
  const theory::NodeNetwork fast = theory::sr8000();
  return {fast.process / kSlower, fast.node / kSlower, fast.memory / kSlower, fast.latency * kSlower};
}

void add_network(arguments::CommandLine& app, Network& network) {
  ranks::add_choice<NetworkKind>(
      app, "--network", network.kind, kNetworks,
      "real: what MPI takes is measured. virtual: before MPI carries a message its sender waits for as long as it "
      "would take on a network of these figures, which the processes of a node share; those of R07's Hitachi SR8000, "
      "ten times slower, if nothing is said. [real]")
      .type_name("NAME");
  ranks::add(app, kOfModel[0], network.model.process, words::parse_bandwidth,
             "network virtual: to other nodes, of one process that communicates alone. [41.7 MB/s]")
      .type_name("RATE");
  ranks::add(app, kOfModel[1], network.model.node, words::parse_bandwidth,
             "network virtual: the same, of all processes of a node together at most. [83.3 MB/s]")
      .type_name("RATE");
  ranks::add(app, kOfModel[2], network.model.memory, words::parse_bandwidth,
             "network virtual: within the node, of each process. [50 MB/s]")
      .type_name("RATE");
  ranks::add(app, kOfModel[3], network.model.latency, parse_seconds, "network virtual: of each message. [2.49 ms]")
      .type_name("DURATION");
}

wire::Status check_network(const arguments::CommandLine& app, const Network& network) {
  for (const char* flag : kOfModel)
    if (app.count(flag) > 0 && network.kind == NetworkKind::kReal)
      return wire::Error{fmt::format("{} belongs to --network virtual", flag)};
  if (network.model.node < network.model.process)
    return wire::Error{
        "--node-bandwidth: a node that moves less than --process-bandwidth has no process that moves so much"};
  return wire::ok();
}

}  // namespace idlewave::internode
