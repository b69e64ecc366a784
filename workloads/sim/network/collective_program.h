#pragma once
// A program of calculations and collectives, what is asked of its run, and what comes of it.

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"
#include "workloads/sim/network/collectives.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

using core::PhaseNoise;
using core::Recorder;
using support::CollectiveMode;
using wire::Step;

/// Idle time before the work of a step. The rank's processor is taken for so long.
struct Idle {
  Rank rank = 0;
  Step step = 0;
  std::int64_t ns = 0;
};

/// In each step each rank calculates, and then all of them call the collective.
struct CollectiveProgram {
  Rank ranks = 1;
  Step steps = 1;            ///< At most kMostCollectiveSteps.
  std::int64_t work_ns = 0;  ///< Of each rank in each step.
  CollectiveCall call;       ///< At least 1 B.
  CollectiveMode mode = CollectiveMode::kBlocking;
  std::vector<Idle> delays;
};
inline constexpr Step kMostCollectiveSteps = Step{1} << 31;

/// The caller owns what is pointed to, and keeps it for the run.
struct CollectiveOptions {
  const PhaseNoise* noise = nullptr;        ///< Null: silent.
  const std::atomic<bool>* stop = nullptr;  ///< Ends the run with what it has.
  Recorder* recorder = nullptr;             ///< In the order of time for each rank, not of all ranks together.
  std::optional<Step> starts_of;            ///< Keeps when each rank began the work of this step.

  /// Noise in time hits messages as well as work.
  bool is_interrupted() const { return noise && noise->is_in_time(); }
};

struct CollectiveRun {
  std::vector<std::int64_t> finish_ns;  ///< For each rank: when its processor becomes free.
  std::vector<std::int64_t> starts_ns;  ///< For each rank, of CollectiveOptions::starts_of; 0 where it was not reached.
  std::uint64_t messages = 0;           ///< That arrived.
  std::uint64_t rank_steps = 0;         ///< Whose collective is over.
  bool tied = false;                    ///< An order had to be decided; see `run`.
  bool stopped = false;                 ///< By `stop`, before its end.
};

}  // namespace idlewave::sim::network
