#pragma once
// How a program that knows nothing of us comes to report: its ranks, and they alone, load libidlewave-mpi (probe/mpi).

#include <string>
#include <vector>

#include "monitor/host/launcher.h"

namespace idlewave::host {

struct Preload {
  std::string library{};  ///< Path; empty: nothing is loaded.
  std::string why_not{};  ///< Then, for the user: what keeps us from it, and what to do.
  std::string step_at{};  ///< MPI function with whose return a step begins; empty: steps are found.
};

/// The library, unless the program that stands in `command` can't load it: then it runs as it is.
Preload choose_preload(const std::vector<std::string>& command, LauncherKind kind);

/// `command` with what makes the launcher load `library` into the ranks, ahead of what the user has them load, and not
/// into itself nor its helpers on other nodes. Where the launcher is none that we know, and may be the program itself,
/// `environment` ("NAME=value") says it to all whom it starts.
std::vector<std::string> with_preload(std::vector<std::string> command, LauncherKind kind, const std::string& library,
                                      std::vector<std::string>& environment);

}  // namespace idlewave::host
