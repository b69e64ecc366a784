#pragma once
// A simulated run as a session file.

#include <string>

#include "probe/wire/result.h"
#include "workloads/sim/main/parts.h"

namespace idlewave::sim {

/// Before a run that is to be recorded. Error: the file exists, or the scenario is larger than a session can be.
wire::Status check_recording(const Prepared& prepared, const std::string& path);

struct Recorded {
  double until = 0;   ///< Seconds of simulated time.
  bool whole = true;  ///< False: interrupted; the file is a sound session up to there.
};

/// Runs the scenario from its beginning to its end, or until interrupted, and writes what its ranks do. Error: one
/// line.
wire::Result<Recorded> record(const Prepared& prepared, const Options& options, const std::string& path);

}  // namespace idlewave::sim
