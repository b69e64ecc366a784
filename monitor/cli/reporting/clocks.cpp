#include "monitor/cli/reporting/clocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "probe/wire/printable.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::reporting {
namespace {

using json = support::Json;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::seconds;
using words::format_duration;

/// Those with a clock of their own, if there are several.
std::vector<Timeline::NodeStatus> compared(const Timeline& timeline) {
  auto nodes = timeline.nodes();
  std::erase_if(nodes, [](const auto& node) { return node.simulated; });
  if (nodes.size() < 2) nodes.clear();
  return nodes;
}

/// With as many digits as are known: "-80.9550 s" to 105 us.
std::string offset_in_words(Nanoseconds offset, Nanoseconds error) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};
  const double ns = double(offset.count());
  const Unit* unit = std::begin(kUnits);
  while (std::next(unit) != std::end(kUnits) && std::abs(ns) < unit->ns) ++unit;
  const double known = std::max(double(error.count()), 1.0) / unit->ns;
  const int digits = std::max(-int(std::floor(std::log10(known))), 0);
  return fmt::format("{:+.{}f} {}", ns / unit->ns, digits, unit->name);
}

std::string offset_in_words(const Timeline::NodeStatus& node) {
  if (!node.clock_error) {
    const char* const sign = node.clock_offset < Nanoseconds{0} ? "" : "+";
    return fmt::format("{}{} by its wall clock", sign, format_duration(node.clock_offset));
  }
  return fmt::format("{} ± {}", offset_in_words(node.clock_offset, *node.clock_error),
                     format_duration(*node.clock_error));
}

}  // namespace

json clocks_json(const Timeline& timeline) {
  json list = json::array();
  for (const auto& node : compared(timeline)) {
    const bool is_known = node.clock_error.has_value();
    list.push_back({{"node", node.name},
                    {"offset_s", seconds(node.clock_offset)},
                    {"error_s", is_known ? json(seconds(*node.clock_error)) : json()},
                    {"drift", is_known ? json(node.clock_drift) : json()}});
  }
  return list;
}

std::string clocks_text(const Timeline& timeline) {
  const auto nodes = compared(timeline);
  std::string text = nodes.empty() ? "" : "clocks, ahead of the session's:\n";
  for (const auto& node : nodes) {
    const std::string drift =
        node.clock_error ? fmt::format(", gains {:.2f} us a second", node.clock_drift * 1e6) : std::string();
    text += fmt::format("  {:<18} {}{}\n", wire::printable(node.name), offset_in_words(node), drift);
  }
  return text;
}

std::string clocks_in_words(const Timeline& timeline) {
  std::string text;
  for (const auto& node : compared(timeline))
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", node.name, offset_in_words(node));
  return text;
}

json blur_json(const analysis::waves::WaveDirection& direction) {
  if (!direction.blur) return {};
  const analysis::waves::Blur& blur = *direction.blur;
  return {{"per_rank_s", seconds(blur.per_rank)},
          {"clock_error_s", blur.clock_error ? json(seconds(*blur.clock_error)) : json()},
          {"reason", in_words(blur)}};
}

std::string in_words(const analysis::waves::Blur& blur) {
  if (!blur.clock_error) return "how far the clocks of its nodes are off from each other is not known";
  return fmt::format("the front takes {} from rank to rank, and the clocks of its nodes are known to {}",
                     format_duration(blur.per_rank), format_duration(*blur.clock_error));
}

}  // namespace idlewave::cli::reporting
