#include "workloads/heat/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::heat {
namespace {

using support::Json;

std::string in_words(double seconds) {
  return words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(seconds * 1e9)});
}

/// Of a run with pages: how many times as long as the messages of the same plate its communication takes.
std::optional<double> times_messages(const Run& run, const std::vector<Run>& runs) {
  const auto messages = std::ranges::find_if(runs, [&](const Run& other) {
    return other.memory == Memory::kMessages && other.square.points == run.square.points;
  });
  if (run.memory != Memory::kPages || messages == runs.end() || !(messages->communication > 0)) return std::nullopt;
  return run.communication * run.step / (messages->communication * messages->step);
}

}  // namespace

std::string table(const Options& o, int processes, const std::vector<Run>& runs) {
  std::string text = fmt::format("{} process{}, {} thread{} each, {} steps of each\n", processes,
                                 processes == 1 ? "" : "es", o.threads, o.threads == 1 ? "" : "s", o.steps);
  text += fmt::format("{:>13}  {:10}{:>10}{:>16}{:>16}{:>22}{:>17}\n", "points", "memory", "a step", "communication",
                      "x messages'", "transfers a process", "bytes a process");
  double error = 0;
  for (const Run& run : runs) {
    const auto times = times_messages(run, runs);
    text += fmt::format("{:>13}  {:10}{:>10}{:>16}{:>16}{:>22.1f}{:>17}\n", fmt::format("{0} x {0}", run.square.points),
                        name_of(run.memory), in_words(run.step), fmt::format("{:.0f} %", 100 * run.communication),
                        times ? fmt::format("{:.3g}", *times) : "", run.messages,
                        words::format_bytes(static_cast<std::uint64_t>(run.bytes)));
    error = std::max(error, run.error);
  }
  return text + fmt::format("Transfers and bytes are of one step. Points are off by {:.1e} at most.\n", error);
}

std::string json(const Options& o, int processes, const std::vector<Run>& runs) {
  Json list = Json::array();
  for (const Run& run : runs) {
    const auto times = times_messages(run, runs);
    list.push_back({{"size", run.square.points},
                    {"memory", name_of(run.memory)},
                    {"step_s", run.step},
                    {"communication_share", run.communication},
                    {"communication_ratio", times ? Json(*times) : Json()},
                    {"transfers_per_step", run.messages},
                    {"bytes_per_step", run.bytes},
                    {"error", run.error}});
  }
  return Json{{"processes", processes}, {"threads", o.threads}, {"steps", o.steps}, {"runs", list}}.text();
}

}  // namespace idlewave::heat
