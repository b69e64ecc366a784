#include "monitor/cli/lessons/list.h"

#include <fmt/format.h>

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

int list_lessons() {
  for (const auto& path : all_lessons()) {
    const auto scenario = support::load_lesson(path);
    if (!scenario) return fail(scenario.error().message, 1);
    if (!scenario->lesson) continue;
    print(fmt::format("{:16} {}\n", path.stem().string(), scenario->lesson->summary));
    const std::string player = player_of(*scenario), by = player.empty() ? "" : fmt::format(" [{}]", player);
    if (!scenario->lesson->figure.empty()) print(fmt::format("{:16} {}{}\n", "", scenario->lesson->figure, by));
  }
  return 0;
}

}  // namespace idlewave::cli::lessons
