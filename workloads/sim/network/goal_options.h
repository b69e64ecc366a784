#pragma once
// What is asked of a run of a GOAL schedule, and what comes of it.

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/sim/network/memory_domains.h"

namespace idlewave::sim::network {

using core::PhaseNoise;

/// Something that was still waiting when nothing could happen any more.
struct Stuck {
  enum class Kind { kReceive, kMessage };
  Kind kind = Kind::kReceive;
  Rank rank = 0;  ///< Who waits: the receiver of kReceive, the sender of kMessage.
  Rank peer = 0;  ///< For whom: source (or kAnySource) of kReceive, destination of kMessage.
  Tag tag = 0;    ///< kAnyTag: any.
  std::uint64_t bytes = 0;
  bool blocks_sender = false;  ///< kMessage by rendezvous: its send never ends.
};

struct GoalRun {
  std::vector<std::int64_t> finish_ns;  ///< For each rank: when the last of its processors becomes free.
  std::uint64_t ops = 0;                ///< Operations that ran: calculations and sends begun, receives posted.
  std::uint64_t messages = 0;           ///< That arrived.
  std::uint64_t events = 0;             ///< Only counted with one of GoalOptions but the first.
  bool stopped = false;                 ///< By GoalOptions::stop, before its end.
  std::vector<Stuck> stuck;             ///< A deadlock, or messages that nobody received; in order of ranks.

  bool complete() const { return stuck.empty(); }
};

/// Hears of the calculations on memory domains and of idle ones as they come; in the order of time, where ranks have
/// one processor and messages at least a byte.
class CalcObserver {
 public:
  virtual ~CalcObserver() = default;
  virtual void begins(const GoalOp& calc, std::int64_t time) = 0;
  virtual void noise_begins(const GoalOp& calc, std::int64_t time) = 0;  ///< Its work is done.
  virtual void ends(const GoalOp& calc, std::int64_t time) = 0;          ///< Not of idle ones.
};

/// The caller owns what is pointed to, and keeps it for the run.
struct GoalOptions {
  std::span<const std::int64_t> start_ns = {};  ///< When each rank may begin, not negative; empty: all at 0.
  const MemoryDomains* memory = nullptr;        ///< Null: calculations share nothing.
  const PhaseNoise* noise = nullptr;            ///< Null: silent.
  CalcObserver* observer = nullptr;
  const std::atomic<bool>* stop = nullptr;  ///< Ends the run with what it has; looked at every few thousand events.
};

}  // namespace idlewave::sim::network
