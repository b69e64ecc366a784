#include "workloads/internode/orthogonal_report.h"

#include <fmt/format.h>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::internode {
namespace {

using support::Json;

std::string time_in_words(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

bool is_virtual(const OrthogonalOptions& o) { return o.network.kind == NetworkKind::kVirtual; }

std::string head(const OrthogonalOptions& o, const Figures& figures) {
  const auto& net = o.network.model;
  const std::string way =
      is_virtual(o)
          ? fmt::format("a virtual network: a process alone {}, a node {}, within it {} a process, {} a message",
                        words::format_bandwidth(net.process), words::format_bandwidth(net.node),
                        words::format_bandwidth(net.memory), time_in_words(net.latency))
          : "measured through MPI";
  return fmt::format("{} nodes{} of {} processes, {} rounds; {}\n", figures.nodes,
                     o.ranks_per_node > 0 ? " of ranks in their order" : "", figures.ranks_per_node, o.rounds, way);
}

/// Slide "Results of the experiment".
std::string ratio_table(const OrthogonalOptions& o, const Figures& figures) {
  const std::vector<Point> pure = points_of(figures, {figures.ranks_per_node, true});
  const std::vector<Point> masteronly = points_of(figures, {1, false});
  if (masteronly.empty()) return "";
  std::string text = fmt::format("{:>10}{:>12}{:>12}{:>12}{:>14}{:>8}{:>9}\n", "message", "pure MPI", "vertical",
                                 "horizontal", "masteronly", "ratio", is_virtual(o) ? "theory" : "");
  for (std::size_t i = 0; i < pure.size(); ++i) {
    const auto theory = [&](const Point& point) { return predicted(o.network.model, figures.ranks_per_node, point); };
    text += fmt::format("{:>10}{:>12}{:>12}{:>12}{:>14}{:>8.2f}{:>9}\n", words::format_bytes(pure[i].size),
                        time_in_words(pure[i].exchange), time_in_words(pure[i].vertical),
                        time_in_words(pure[i].exchange - pure[i].vertical), time_in_words(masteronly[i].exchange),
                        masteronly[i].exchange / pure[i].exchange,
                        is_virtual(o) ? fmt::format("{:.2f}", theory(masteronly[i]) / theory(pure[i])) : "");
  }
  return text;
}

/// Slides "Multiple inter-node communication paths".
std::string bandwidth_table(const OrthogonalOptions& o, const Figures& figures) {
  std::string text =
      fmt::format("bandwidth between nodes, of a node, by processes of it that communicate\n{:>10}", "message");
  const std::vector<Way> ways = ways_of(o, figures.ranks_per_node);
  for (const Way& way : ways)
    text += fmt::format("{:>12}", way.horizontal ? "pure MPI" : std::to_string(way.communicating));
  text += "\n";
  for (std::size_t i = 0; i < figures.points.size(); ++i) {
    const Point& point = figures.points[i];
    if (i % ways.size() == 0) text += fmt::format("{:>10}", words::format_bytes(point.size));
    text += fmt::format("{:>12}", words::format_bandwidth(bandwidth_between_nodes(point, figures.ranks_per_node)));
    if ((i + 1) % ways.size() == 0) text += "\n";
  }
  return text;
}

/// What two times that are equal may differ by where others use the machine.
constexpr double kAlike = 0.1;

std::string verdict(const Figures& figures) {
  const std::vector<Ratio> ratios = ratios_of(figures);
  if (ratios.empty()) return "";
  const auto [size, last] = ratios.back();
  const auto crossing = crossing_of(ratios);
  if (crossing && last > 1 + kAlike)
    return fmt::format("Masteronly is faster up to messages of about {}, pure MPI from there on.\n",
                       words::format_bytes(static_cast<std::uint64_t>(*crossing)));
  if (last > 1 + kAlike) return "Pure MPI is faster, whatever the size.\n";
  return fmt::format("{} at {}.\n", last < 1 - kAlike ? "Masteronly is still faster" : "Both are about equally fast",
                     words::format_bytes(size));
}

Json to_json(const OrthogonalOptions& o, const Figures& figures, const Point& point) {
  const auto ratio = ratio_of(figures, point);
  return {{"size", std::uint64_t(point.size)},
          {"way", point.way.horizontal           ? "pure_mpi"
                  : point.way.communicating == 1 ? "masteronly"
                                                 : "several"},
          {"communicating", point.way.communicating},
          {"exchange_s", point.exchange},
          {"ratio", ratio ? Json(*ratio) : Json()},
          {"vertical_s", point.vertical},
          {"bandwidth", bandwidth_between_nodes(point, figures.ranks_per_node)},
          {"theory_s", is_virtual(o) ? Json(predicted(o.network.model, figures.ranks_per_node, point)) : Json()}};
}

}  // namespace

std::string tables(const OrthogonalOptions& options, const Figures& figures) {
  return head(options, figures) + ratio_table(options, figures) + bandwidth_table(options, figures) + verdict(figures);
}

std::string json(const OrthogonalOptions& options, const Figures& figures) {
  Json points = Json::array();
  for (const Point& point : figures.points) points.push_back(to_json(options, figures, point));
  const auto crossing = crossing_of(ratios_of(figures));
  const Json object{{"nodes", figures.nodes},
                    {"ranks_per_node", figures.ranks_per_node},
                    {"network", is_virtual(options) ? "virtual" : "real"},
                    {"rounds", options.rounds},
                    {"points", points},
                    {"crossing_bytes", crossing ? Json(*crossing) : Json()},
                    {"wrong", figures.wrong}};
  return object.text();
}

}  // namespace idlewave::internode
