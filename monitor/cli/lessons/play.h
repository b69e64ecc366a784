#pragma once
// A lesson as it is to be played: its file, and what the command line changes in it.

#include <filesystem>
#include <string>
#include <vector>

#include "monitor/cli/options.h"
#include "monitor/lesson/course.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli::lessons {

struct Play {
  std::filesystem::path path;
  std::vector<std::string> overrides;
  support::Scenario scenario;
  std::optional<lesson::Course> course;  ///< Nothing where the file has no page.
};

/// Error: the place in the file, and what would be accepted.
wire::Result<Play> load(const DemoOptions& options);

/// Whether a student is played, who answers and orders by itself.
bool plays_student(const DemoOptions& options, const Play& play);

}  // namespace idlewave::cli::lessons
