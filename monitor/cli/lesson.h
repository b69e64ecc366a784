#pragma once
// A scenario as a lesson: the command line that plays it with real MPI ranks, and what the panel says.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "monitor/view/model.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli {

/// Nothing for a scenario that teaches nothing.
std::optional<view::Lesson> lesson_panel(const support::Scenario& scenario);

/// `iw-ring` for the scenario at `path` with `settings` (KEY=VALUE) applied; its delays are the operator's. `duration`:
/// end properly after so long, if not before.
std::vector<std::string> ring_command(const std::filesystem::path& path, const std::vector<std::string>& settings,
                                      std::optional<wire::Nanoseconds> duration);

/// The launcher for `ranks` ranks on this node; the error says how to install one.
wire::Result<std::vector<std::string>> launcher_command(wire::Rank ranks);

/// Ranks when the scenario leaves them to the machine: one a core, at least two.
wire::Rank ranks_for_this_machine();

}  // namespace idlewave::cli
