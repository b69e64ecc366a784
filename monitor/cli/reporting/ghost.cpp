#include "monitor/cli/reporting/ghost.h"

#include <fmt/format.h>

#include "monitor/analysis/program/ghost.h"
#include "monitor/cli/reporting/moment.h"
#include "monitor/model/ghost_run.h"
#include "monitor/model/inference.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::reporting {
namespace {

using analysis::program::Departure;
using analysis::program::Ghost;
using json = support::Json;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::seconds;
using words::format_duration;

constexpr std::size_t kMostNamed = 64, kMostInText = 5;
/// Of what the ghost's steps take.
constexpr double kSeen = 1e-3;

/// Both ways to hold a run against its model: from each step's own state, and from the begin.
struct Found {
  json model;
  model::Behind behind;
  Ghost ghost;
  analysis::program::DepartureSums sums;
};

wire::Result<Found> find(const Timeline& timeline) {
  auto program = analysis::program::find_program(timeline);
  if (!program) return program.error();
  auto behind = model::behind_ghost(*program);
  if (!behind) return behind.error();
  Found found{.model = model::inference_json(*program), .behind = std::move(*behind), .ghost = {}, .sums = {}};
  found.ghost = analysis::program::ghost_of(program->model(), std::move(program->steps));
  found.sums = analysis::program::sum_of(found.ghost, kMostNamed);
  return found;
}

json departure_json(const Departure& departure) {
  json object = {{"waiting_s", seconds(departure.waiting)}};
  object["at_work_s"] = departure.at_work ? json(seconds(*departure.at_work)) : json();
  return object;
}

json ranks_json(const Found& found) {
  json list = json::array();
  for (std::size_t rank = 0; rank < found.ghost.departures.size(); ++rank)
    list.push_back({{"rank", rank},
                    {"at_work_s", seconds(found.sums.at_work[rank])},
                    {"waiting_s", seconds(found.sums.waiting[rank])},
                    {"behind_s", seconds(found.behind.ranks[rank])}});
  return list;
}

/// By step: what all ranks left the model by.
json steps_json(const Ghost& ghost) {
  json list = json::array();
  for (std::size_t k = 0; k < ghost.steps.steps(); ++k) {
    Nanoseconds at_work{}, waiting{};
    for (const auto& rank : ghost.departures)
      at_work += rank[k].at_work.value_or(Nanoseconds{0}), waiting += rank[k].waiting;
    list.push_back(
        {{"step", ghost.steps.numbers[k]}, {"at_work_s", seconds(at_work)}, {"waiting_s", seconds(waiting)}});
  }
  return list;
}

json largest_json(const Found& found) {
  json list = json::array();
  for (const analysis::program::LargestDeparture& each : found.sums.largest) {
    json object = departure_json(each.departure);
    object["rank"] = each.rank;
    object["step"] = found.ghost.steps.numbers[each.step];
    object["at_s"] = seconds(found.ghost.steps.ranks[std::size_t(each.rank)][each.step].begin);
    list.push_back(std::move(object));
  }
  return list;
}

std::string signed_duration(Nanoseconds time) {
  return format_duration(std::chrono::abs(time)) + (time < Nanoseconds{0} ? " earlier" : " later");
}

/// What is not nothing of it.
std::string departure_text(const Departure& departure) {
  std::string text;
  if (departure.at_work != Nanoseconds{0})
    text = departure.at_work ? signed_duration(*departure.at_work) + " at work" : "not known at work";
  if (departure.waiting == Nanoseconds{0}) return text;
  return text + (text.empty() ? "" : ", ") + signed_duration(departure.waiting) + " by waiting";
}

std::string largest_text(const Found& found) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostInText, found.sums.largest.size()); ++i) {
    const analysis::program::LargestDeparture& each = found.sums.largest[i];
    text += fmt::format("  rank {}, step {}, at {}: {}\n", each.rank, found.ghost.steps.numbers[each.step],
                        moment_in_words(found.ghost.steps.ranks[std::size_t(each.rank)][each.step].begin),
                        departure_text(each.departure));
  }
  return text;
}

/// Where that is seen in how long the run took.
std::string spread_text(const model::Behind& behind) {
  if (double(behind.spread.count()) < kSeen * double(behind.model.count())) return "";
  return fmt::format("  where a step differs by a nanosecond its ends come to differ by {}: it is known no better\n",
                     format_duration(behind.spread));
}

}  // namespace

json ghost_json(const Timeline& timeline) {
  const auto found = find(timeline);
  if (!found) return {{"error", found.error().message}};
  return {{"model", found->model},
          {"step_s", seconds(found->ghost.step)},
          {"measured_s", seconds(found->behind.measured)},
          {"model_s", seconds(found->behind.model)},
          {"model_error_s", seconds(found->behind.spread)},
          {"departure_share", found->sums.share},
          {"largest", largest_json(*found)},
          {"ranks", ranks_json(*found)},
          {"steps", steps_json(found->ghost)}};
}

std::string ghost_text(const Timeline& timeline) {
  const auto found = find(timeline);
  if (!found) return "no ghost: " + found.error().message + "\n";
  const model::Behind& behind = found->behind;
  const Nanoseconds late = behind.measured - behind.model;
  return fmt::format(
             "ghost, the program without what nobody told of: its steps take {}, the run took {}, {} ({:+.2g} %)\n",
             format_duration(behind.model), format_duration(behind.measured), signed_duration(late),
             100 * seconds(late) / seconds(behind.model)) +
         spread_text(behind) +
         fmt::format("  {:.2g} % of the time of all ranks is not the model's{}\n", 100 * found->sums.share,
                     found->sums.largest.empty() ? "" : ", most of it:") +
         largest_text(*found);
}

}  // namespace idlewave::cli::reporting
