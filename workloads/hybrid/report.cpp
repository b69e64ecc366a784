#include "workloads/hybrid/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::hybrid {
namespace {

using support::Json;

std::string in_words(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

double mean_of(const Run& run, double RankFigures::*figure) {
  double sum = 0;
  for (const RankFigures& rank : run.ranks) sum += rank.*figure;
  return sum / double(run.ranks.size());
}

}  // namespace

std::string table(const Options& o, const std::vector<Run>& runs) {
  const auto [x, y, z] = o.box.size;
  const std::size_t processes = runs.front().ranks.size();
  std::string text = fmt::format("{} x {} x {} points, {} process{}, {} thread{} each, {} steps in each mode{}\n", x, y,
                                 z, processes, processes == 1 ? "" : "es", o.threads, o.threads == 1 ? "" : "s",
                                 o.steps, o.kernel == Kernel::kVirtual ? ", virtual" : "");
  text += fmt::format("{:12}{:>10}{:>10}{:>15}{:>24}{:>9}\n", "mode", "reserved", "a step", "communication",
                      "x as fast as masteronly", "theory");
  for (const Run& run : runs) {
    const auto ratio = ratio_of(run, runs, o.threads);
    text += fmt::format("{:12}{:>10}{:>10}{:>15}{:>24}{:>9}\n", name_of(run.way.mode), run.way.reserved,
                        in_words(step_time(run)), in_words(mean_of(run, &RankFigures::communication)),
                        ratio ? fmt::format("{:.2f}", ratio->measured) : "–",
                        ratio ? fmt::format("{:.2f}", ratio->theory) : "–");
  }
  double error = 0;
  for (const Run& run : runs) error = std::max(error, largest_error(run));
  return text + fmt::format("Points are off by {:.1e} at most.\n", error);
}

std::string json(const Options& o, const std::vector<Run>& runs) {
  Json all = Json::array();
  for (const Run& run : runs) {
    const auto ratio = ratio_of(run, runs, o.threads);
    all.push_back({{"mode", name_of(run.way.mode)},
                   {"reserved", run.way.reserved},
                   {"step_s", step_time(run)},
                   {"communication_s", mean_of(run, &RankFigures::communication)},
                   {"work_s", mean_of(run, &RankFigures::work)},
                   {"ratio", ratio ? Json(ratio->measured) : Json()},
                   {"theory_ratio", ratio ? Json(ratio->theory) : Json()},
                   {"error", largest_error(run)}});
  }
  const auto [x, y, z] = o.box.size;
  const Json object{{"size", Json(std::vector<int>{x, y, z})},
                    {"processes", std::int64_t(runs.front().ranks.size())},
                    {"threads", o.threads},
                    {"steps", o.steps},
                    {"runs", all}};
  return object.text();
}

}  // namespace idlewave::hybrid
