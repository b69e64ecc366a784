#pragma once
// A scenario from its beginning to its end, as fast as it goes.

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "probe/wire/result.h"
#include "probe/words/window.h"
#include "workloads/sim/contention/model.h"
#include "workloads/sim/contention/phase_noise.h"
#include "workloads/sim/contention/recorder.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

using words::Fractions;  ///< Of the makespan.

/// The caller owns what is pointed to, and keeps it for the run.
struct RunOptions {
  const PhaseNoise* noise = nullptr;        ///< Null: silent. (The scenario's own is for the caller to make.)
  const std::atomic<bool>* stop = nullptr;  ///< Ends the run with what it has; looked at every few thousand events.
  Recorder* recorder = nullptr;
  std::optional<Step> starts_of;             ///< Keeps when each rank began this step.
  std::optional<Fractions> active_means_of;  ///< Runs a second time, up to the window's end: see active_means.
};

struct Run {
  double makespan = 0;               ///< Seconds, to the end of the last wait; of a run that was stopped, so far.
  std::uint64_t rank_steps = 0;      ///< That are over.
  std::uint64_t events = 0;          ///< Moments of a domain; of a core-bound run, posts.
  bool stopped = false;              ///< By `stop`, before its end, or before the averages that were asked for.
  std::vector<double> starts;        ///< Seconds, per rank, of RunOptions::starts_of; 0 where it was not reached.
  std::vector<double> active_means;  ///< Per domain: time-average of ranks at work, delays and noise excluded.
};

/// Error: a step or a window that is out of range.
wire::Status check(const RunOptions& options, const Model& model);

/// Runs a scenario: by the event engine if it is memory-bound, else by the sweep. The same scenario and noise give the
/// same run to the last bit. Error: what model_of refuses, or an option that is out of range.
wire::Result<Run> run(const support::Scenario& scenario, const RunOptions& options);

/// Averages of a run that `run` has made of the same scenario and noise, for callers that time the two apart: the
/// window is known only when the makespan is. Costs another run up to the window's end. `window` is one that `run`
/// would take. Empty: ended by `stop`.
std::vector<double> active_means(const support::Scenario& scenario, const PhaseNoise* noise, const Run& run,
                                 Fractions window, const std::atomic<bool>* stop = nullptr);

/// Memory that the run will take, to say so before it starts. Error as above.
wire::Result<std::size_t> bytes_needed(const support::Scenario& scenario, const RunOptions& options);

}  // namespace idlewave::sim
