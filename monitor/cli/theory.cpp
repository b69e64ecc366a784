#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "monitor/cli/phase_picture.h"
#include "monitor/cli/theory_sheets.h"
#include "monitor/cli/verbs.h"
#include "probe/arguments/suggestion.h"
#include "probe/words/quantity.h"
#include "workloads/support/json.h"

namespace idlewave::cli {
namespace {

std::string list_of_sheets() {
  std::string text;
  for (const Sheet& sheet : theory_sheets())
    text += fmt::format("{:<13} {} ({}){}\n", sheet.name, sheet.about, sheet.paper,
                        sheet.second_name.empty() ? "" : "; also " + sheet.second_name);
  return text +
         "\n'idlewave theory NAME' works one out with its figures, which are the paper's where that prints any; "
         "'idlewave theory NAME KEY=VALUE ...' with yours.\n";
}

std::string value_in_words(const Told& told) {
  if (std::isinf(told.value)) return "without bound";
  if (std::isnan(told.value)) return "not defined";
  if (told.key.ends_with("_bytes_per_s")) return words::format_bandwidth(told.value);
  if (told.key.ends_with("ranks_per_s")) return fmt::format("{:.4g} ranks/s", told.value);
  if (told.key.ends_with("bytes_per_flop")) return fmt::format("{:.4g} B/flop", told.value);
  if (told.key.ends_with("_rad")) return fmt::format("{:.4g} rad", told.value);
  if (told.key == "coupling_per_s") return fmt::format("{:.4g} /s", told.value);
  if (told.key.ends_with("flop_per_s")) return fmt::format("{:.4g} Gflop/s", told.value / 1e9);
  if (told.key.ends_with("_s")) return fmt::format("{:.5g} s", told.value);
  const bool is_count = std::abs(told.value) < 1e15 && told.value == std::floor(told.value);
  return is_count ? fmt::format("{:.0f}", told.value) : fmt::format("{:.4g}", told.value);
}

std::string sheet_in_words(const Sheet& sheet, const TheoryOptions& options, const Worked& worked) {
  std::string text = fmt::format("{} ({})\n\n", sheet.about, sheet.paper);
  for (const Given& each : sheet.given) {
    const auto given = options.given.find(each.key);
    const bool is_ours = given == options.given.end();
    text += fmt::format("  {:<34} {:<16} {} ({}){}\n", each.key, is_ours ? each.value : given->second, each.about,
                        in_words(std::ranges::find(worked.given, each.key, &Taken::key)->accepted),
                        is_ours && !each.value_from.empty() ? "; " + each.value_from : "");
  }
  text += "\n";
  for (const Told& each : worked.answer.told)
    text += fmt::format("  {:<34} {:<16} {}\n", each.key, value_in_words(each), each.about);
  return worked.answer.course.empty() ? text : text + "\n" + phase_picture(worked.answer.course);
}

std::string sheet_json(const Sheet& sheet, const Worked& worked) {
  support::Json given, told, course;
  for (const Taken& each : worked.given) given[each.key] = each.value;
  for (const Told& each : worked.answer.told) told[each.key] = each.value;
  support::Json object = {{"name", sheet.name}, {"paper", sheet.paper}, {"given", given}, {"told", told}};
  for (const theory::PhaseMoment& moment : worked.answer.course) {
    const theory::PhaseOrder order = order_of(moment);
    course.push_back({{"at_s", moment.at},
                      {"parameter", order.parameter},
                      {"entropy", order.entropy},
                      {"gradient_rad", order.gradient},
                      {"difference_rad", order.difference},
                      {"phases_rad", moment.phases}});
  }
  if (!course.is_null()) object["order"] = course;
  return object.text() + "\n";
}

}  // namespace

int theory(const TheoryOptions& options) {
  if (options.name.empty()) return print(list_of_sheets()), 0;
  const Sheet* sheet = find_sheet(options.name);
  if (!sheet) {
    std::vector<std::string> names;
    for (const Sheet& each : theory_sheets()) {
      names.push_back(each.name);
      if (!each.second_name.empty()) names.push_back(each.second_name);
    }
    return fail(fmt::format("there is no theory '{}'{}; 'idlewave theory' lists them", options.name,
                            arguments::did_you_mean(options.name, names)),
                2);
  }
  const auto worked = work_out(*sheet, options.given);
  if (!worked) return fail(worked.error().message, 2);
  print(options.json ? sheet_json(*sheet, *worked) : sheet_in_words(*sheet, options, *worked));
  return 0;
}

}  // namespace idlewave::cli
