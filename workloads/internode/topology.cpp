#include "workloads/internode/topology.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::internode {
namespace {

using support::Json;

std::string step_in_words(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

Json to_json(const Links& links) {
  return {{"all", links.all}, {"across_nodes", links.across_nodes}, {"across_sockets", links.across_sockets}};
}

Json to_json(const MappingRun& run) {
  return {{"mapping", name_of(run.mapping)}, {"links", to_json(run.links)}, {"counted", to_json(run.counted)},
          {"messages", to_json(run.sent)},   {"step_s", run.step},          {"wrong", run.wrong}};
}

}  // namespace

bool agree(const MappingRun& run, std::int64_t steps) {
  const std::int64_t messages = 2 * steps;
  const Links expected{run.links.all * messages, run.links.across_nodes * messages,
                       run.links.across_sockets * messages};
  return run.links == run.counted && run.sent == expected;
}

std::string table(const TopologyOptions& o, const Machine& machine, const std::vector<MappingRun>& runs) {
  std::string text =
      fmt::format("{} processes on {} node{} of {}, sockets of {}; {} to each neighbour, {}\n",
                  fmt::join(o.grid.sides, " x "), machine.nodes, machine.nodes == 1 ? "" : "s", machine.ranks_per_node,
                  machine.ranks_per_socket, words::format_bytes(std::uint64_t(o.message_size)),
                  o.network.kind == NetworkKind::kVirtual ? "on a virtual network" : "measured through MPI");
  text += fmt::format("{:13}{:>7}{:>15}{:>17}{:>24}{:>10}\n", "mapping", "links", "between nodes", "between sockets",
                      "messages between nodes", "a step");
  for (const MappingRun& run : runs)
    text +=
        fmt::format("{:13}{:>7}{:>15}{:>17}{:>24}{:>10}\n", name_of(run.mapping), run.links.all, run.links.across_nodes,
                    run.links.across_sockets, run.sent.across_nodes, step_in_words(run.step));
  return text;
}

std::string json(const TopologyOptions& o, const Machine& machine, const std::vector<MappingRun>& runs) {
  Json list = Json::array();
  for (const MappingRun& run : runs) list.push_back(to_json(run));
  const Json object{{"grid", Json(o.grid.sides)},
                    {"nodes", machine.nodes},
                    {"ranks_per_node", machine.ranks_per_node},
                    {"ranks_per_socket", machine.ranks_per_socket},
                    {"message_size", o.message_size},
                    {"steps", o.steps},
                    {"network", words::word_of(o.network.kind, kNetworks)},
                    {"runs", list}};
  return object.text();
}

}  // namespace idlewave::internode
