#include "monitor/cli/lessons/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "workloads/support/real_ranks.h"

namespace idlewave::cli::lessons {

namespace {

/// By whom a lesson is played, where that is not iw-ring or its simulation as one likes.
std::string player_of(const support::Scenario& scenario) {
  if (scenario.play) return scenario.play->name;
  if (!support::playable_by_real_ranks(scenario)) return "--simulated";
  return support::is_model(scenario.program.kernel) ? "" : "real cores";
}

}  // namespace

std::vector<std::string> simulated_lessons() {
  std::vector<std::string> names;
  for (const auto& path : all_lessons()) {
    const auto scenario = support::load_lesson(path);
    if (scenario && scenario->lesson && !scenario->play && support::is_model(scenario->program.kernel))
      names.push_back(path.stem());
  }
  return names;
}

int list_lessons() {
  std::vector<std::pair<std::string, support::Scenario>> lessons;
  std::size_t width = 0;
  for (const auto& path : all_lessons()) {
    auto scenario = support::load_lesson(path);
    if (!scenario) return fail(scenario.error().message, 1);
    if (!scenario->lesson) continue;
    width = std::max(width, path.stem().string().size());
    lessons.emplace_back(path.stem(), std::move(*scenario));
  }
  for (const auto& [name, scenario] : lessons) {
    const std::string player = player_of(scenario), by = player.empty() ? "" : fmt::format(" [{}]", player);
    print(fmt::format("{:{}} {}\n", name, width, scenario.lesson->summary));
    if (!scenario.lesson->figure.empty()) print(fmt::format("{:{}} {}{}\n", "", width, scenario.lesson->figure, by));
  }
  return 0;
}

}  // namespace idlewave::cli::lessons
