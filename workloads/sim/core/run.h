#pragma once
// What is asked of a run, and what comes of it, whichever engine makes it.

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "probe/wire/result.h"
#include "probe/words/window.h"
#include "workloads/sim/core/model.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"

namespace idlewave::sim::core {

using words::Fractions;  ///< Of the makespan.

/// The caller owns what is pointed to, and keeps it for the run.
struct RunOptions {
  const PhaseNoise* noise = nullptr;        ///< Null: silent. (The scenario's own is for the caller to make.)
  const std::atomic<bool>* stop = nullptr;  ///< Ends the run with what it has; looked at every few thousand events.
  Recorder* recorder = nullptr;
  std::optional<Step> starts_of;             ///< Keeps when each rank began this step.
  std::optional<Fractions> active_means_of;  ///< Runs a second time, up to the window's end.
};

struct Run {
  double makespan = 0;               ///< Seconds, to the end of the last wait; of a run that was stopped, so far.
  std::uint64_t rank_steps = 0;      ///< That are over.
  std::uint64_t events = 0;          ///< What the engine counts: its cost, comparable within one engine only.
  bool stopped = false;              ///< By `stop`, before its end, or before the averages that were asked for.
  std::vector<double> starts;        ///< Seconds, per rank, of RunOptions::starts_of; 0 where it was not reached.
  std::vector<double> active_means;  ///< Per domain: time-average of ranks at work, delays and noise excluded.
};

/// Error: a step or a window that is out of range.
wire::Status check(const RunOptions& options, Step steps);

}  // namespace idlewave::sim::core
