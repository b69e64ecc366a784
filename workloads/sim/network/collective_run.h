#pragma once
// Programs of calculations and collectives, run without a schedule: each rank is a small state machine.

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "probe/wire/result.h"
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

/// Without noise each rank finishes at the same nanosecond as in goal_run.h with the schedule that RankPrograms makes
/// of the same program:
///
///   blocking:     for each step calc(work), call(collective)
///   nonblocking:  for each step start(collective), calc(work), wait
///   ideal:        for each step calc(work); the collective costs nothing (Widener et al. 2016, section 2.5)
///
/// where one processor does both of the nonblocking ones, so that messages go on between its calculations only. What
/// waits for a processor goes on in the order in which it was created, a message when it is sent. Of what was created
/// at the same nanosecond a rank's own goes first, then messages in the order of their senders; there, what the run
/// came to first. Only where that had to decide (`tied`), a finish may differ from the schedule's.
///
/// Noise that is drawn for each step comes after the work of the step. Interruptions take the processor from whatever
/// it does: what would begin at t begins at free_from(t), a message's overhead as well as work, and is extended by
/// `after`; of a message that is sent, the overhead o with what extends it comes before the flight of L. A delay is
/// over before the work begins.
///
/// How: what is sent takes at least o + L until it does anything, so until that long after the earliest moment at which
/// anyone may send, ranks are independent, and are visited one after another. Where o + L = 0, or messages are longer
/// than S (rendezvous, which holds the sender), all goes in the order of time instead, about twenty times as slowly.
/// Cost: a visit for each message sent; 136 bytes a rank, and 4 a rank where messages may pile up (rings and trees).
/// Error: what check_costs refuses; a program out of range; a run longer than 2^56 ns (2.3 years).
wire::Result<CollectiveRun> run(const CollectiveProgram& program, const support::LogGops& network,
                                const CollectiveOptions& options = {});

/// Memory that the run takes.
std::size_t bytes_needed(const CollectiveProgram& program);

}  // namespace idlewave::sim::network
