#include "workloads/contention/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::contention {
namespace {

using support::Json;

bool has_contenders(const std::vector<Point>& points) { return points.back().contenders > 0; }

/// Of memory there is a figure only where somebody runs the triad, and gets a core for it.
std::string memory_in_words(double bandwidth) { return bandwidth > 0 ? words::format_bandwidth(bandwidth) : "-"; }

Json memory_in_json(double bandwidth) { return bandwidth > 0 ? Json(bandwidth) : Json(); }

std::string losses_in_words(const std::vector<Point>& points) {
  if (!has_contenders(points)) return "Nobody is left to contend: start more ranks than one for each memory domain.\n";
  const Losses losses = losses_of(points);
  if (!losses.memory)
    return fmt::format(
        "loss ratio L_N {:.2f}; of memory nothing is known: none of the contenders got a core for long enough\n",
        losses.network);
  return fmt::format("loss ratios L_N {:.2f}, L_M {:.2f}\n", losses.network, *losses.memory);
}

std::string time_in_words(std::optional<double> seconds) {
  return seconds ? words::format_duration(wire::Nanoseconds{static_cast<std::int64_t>(*seconds * 1e9)}) : "-";
}

/// What takes longer alone.
std::optional<double> longer(const StepTimes& step) {
  return step.memory && step.network ? std::max(step.memory, step.network) : std::nullopt;
}

bool is_known(const StepTimes& step) { return step.memory && step.network && step.both; }

Json time_in_json(std::optional<double> seconds) { return seconds ? Json(*seconds) : Json(); }

/// Table II of the paper, with what was measured beside what is modelled.
std::string step_table(const std::vector<StepTimes>& steps, const Losses& losses) {
  if (steps.empty()) return "";
  std::string text = fmt::format("a time step: {:>7}{:>11}{:>11}{:>14}{:>11}{:>21}\n", "volume", "T_M", "T_N",
                                 "both at once", "model", "without contention");
  for (const StepTimes& step : steps) {
    text += fmt::format("{:>20}{:>11}{:>11}{:>14}{:>11}{:>21}\n", words::format_bytes(step.volume),
                        time_in_words(step.memory), time_in_words(step.network), time_in_words(step.both),
                        time_in_words(modelled(step, losses)), time_in_words(longer(step)));
  }
  if (!std::ranges::all_of(steps, is_known))
    text +=
        "-: ranks waited for each other for longer than they worked; give more work, or cores that nothing else uses\n";
  return text;
}

Json steps_json(const std::vector<StepTimes>& steps, const Losses& losses) {
  Json list = Json::array();
  for (const StepTimes& step : steps) {
    list.push_back({{"volume", step.volume},
                    {"memory_s", time_in_json(step.memory)},
                    {"network_s", time_in_json(step.network)},
                    {"both_s", time_in_json(step.both)},
                    {"model_s", time_in_json(modelled(step, losses))}});
  }
  return list;
}

}  // namespace

std::string table(const Measured& measured, int domains) {
  const std::vector<Point>& points = measured.points;
  std::string text = domains == 1 ? "one memory domain, whose rank of the ring sends to itself\n"
                                  : fmt::format("{} memory domains; bandwidths are of one, in the mean\n", domains);
  text += fmt::format("{:>10}{:>14}{:>14}{:>30}\n", "contenders", "MPI", "memory", "memory, without communication");
  for (const Point& point : points) {
    text += fmt::format("{:>10}{:>14}{:>14}{:>30}\n", point.contenders, words::format_bandwidth(point.communication),
                        memory_in_words(point.memory), memory_in_words(point.memory_alone));
  }
  return text + losses_in_words(points) + step_table(measured.steps, losses_of(points));
}

std::string json(const Options& options, const Measured& measured, int domains) {
  const std::vector<Point>& points = measured.points;
  Json list = Json::array();
  for (const Point& point : points) {
    list.push_back({{"contenders", point.contenders},
                    {"mpi_bandwidth", point.communication},
                    {"memory_bandwidth", memory_in_json(point.memory)},
                    {"memory_bandwidth_alone", memory_in_json(point.memory_alone)}});
  }
  const Losses losses = losses_of(points);
  return Json{{"domains", domains},
              {"message_size", options.message_size},
              {"kernel", words::word_of(options.kernel, ranks::kKernels)},
              {"points", list},
              {"loss_network", has_contenders(points) ? Json(losses.network) : Json()},
              {"loss_memory", has_contenders(points) && losses.memory ? Json(*losses.memory) : Json()},
              {"steps", steps_json(measured.steps, losses)}}
      .text();
}

}  // namespace idlewave::contention
