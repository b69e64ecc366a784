#pragma once
// The command line that plays a scenario, or a program of ours, with real MPI ranks.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"
#include "workloads/support/played_program.h"

namespace idlewave::cli::lessons {

/// `iw-ring` for the scenario at `path` with `settings` (KEY=VALUE) applied; its delays are the operator's. `duration`:
/// end properly after so long, if not before.
std::vector<std::string> ring_command(const std::filesystem::path& path, const std::vector<std::string>& settings,
                                      std::optional<wire::Nanoseconds> duration);

/// The launcher for `ranks` ranks on this node; the error says how to install one.
wire::Result<std::vector<std::string>> launcher_command(wire::Rank ranks);

/// `played` on so many ranks, by the first MPI that it is built for. The error says how to get one.
wire::Result<std::vector<std::string>> played_command(const support::PlayedProgram& played, wire::Rank ranks);

/// Ranks when the scenario leaves them to the machine: `per_core` a core, at least two.
wire::Rank ranks_for_this_machine(wire::Rank per_core = 1);

}  // namespace idlewave::cli::lessons
