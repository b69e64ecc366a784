#pragma once
// What must be added to the command line of an MPI launcher so that its ranks report to a session.

#include <map>
#include <string>
#include <vector>

#include "monitor/host/launcher_words.h"
#include "probe/wire/result.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::host {

/// Raises our limits, which the launcher inherits, to what it needs for `ranks` ranks on this node. Open MPI that runs
/// out of files hangs instead of ending. The error says how many ranks this account may start.
wire::Status make_room_for(wire::Rank ranks);

using Environment = std::map<std::string, std::string>;

/// What the ranks of `session` need; they connect to `endpoint`.
Environment session_environment(const std::string& session, const std::string& endpoint);

/// What the launcher of a demo needs so that it starts on a small machine as it would on a large one: Open MPI is allowed
/// more ranks than cores, to yield while it waits, and to run as root. Never replaces what the user has set. A program
/// under `run` has none of it: it starts where it would start alone.
Environment demo_environment(LauncherKind kind);

/// Has srun export `item`, "NAME" or "NAME=value", beside what it would: the last --export; without one SLURM_EXPORT_ENV,
/// and without that ALL.
void export_by_slurm(std::vector<std::string>& command, const std::string& item);

/// `command` with what makes the launcher, which is started with `environment` ("NAME=value") on top of ours, hand `wanted`
/// to the ranks on every node.
std::vector<std::string> with_environment(std::vector<std::string> command, LauncherKind kind,
                                          const Environment& wanted, std::vector<std::string>& environment);

}  // namespace idlewave::host
