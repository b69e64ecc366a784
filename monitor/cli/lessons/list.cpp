#include "monitor/cli/lessons/list.h"

#include <fmt/format.h>

#include "monitor/cli/paths.h"
#include "monitor/cli/verbs.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli::lessons {

int list_lessons() {
  for (const auto& path : all_lessons()) {
    const auto scenario = support::load_scenario(path);
    if (!scenario) return fail(scenario.error().message, 1);
    if (!scenario->lesson) continue;
    print(fmt::format("{:16} {}\n", path.stem().string(), scenario->lesson->summary));
    if (!scenario->lesson->figure.empty()) print(fmt::format("{:16} {}\n", "", scenario->lesson->figure));
  }
  return 0;
}

}  // namespace idlewave::cli::lessons
