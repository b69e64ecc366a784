#pragma once
// A simulated run as a session file.

#include <atomic>
#include <string>

#include "probe/wire/frame_log.h"
#include "probe/wire/result.h"
#include "workloads/sim/simulator.h"

namespace idlewave::sim::emitter {

/// Before a run that is to be recorded. Error: the file exists, or the scenario is larger than a session can be.
wire::Status check_recording(const support::Scenario& scenario, const std::string& path);

/// Runs the scenario from its beginning to its end, or until `stop`, and writes what its ranks do. Stopped, the file is
/// a sound session up to there. Error: one line.
wire::Result<Played> record(const Prepared& prepared, const wire::FrameLogHeader& header, const std::string& program,
                            const std::string& path, const std::atomic<bool>* stop);

}  // namespace idlewave::sim::emitter
