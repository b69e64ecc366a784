#pragma once

#include <atomic>
#include <cstdint>

#include "probe/client/lane_writer.h"
#include "probe/client/phase_table.h"
#include "probe/client/trace_player.h"
#include "probe/shm/gate.h"
#include "probe/shm/layout.h"

namespace idlewave::client {

/// splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed = 0) : state_(seed) {}
  std::uint64_t next();
  double unit();  ///< In (0, 1].

 private:
  std::uint64_t state_;
};

/// Obeys what the agent orders through a slot's gates: holds the rank, and tells it as events. One thread, the rank's.
/// A hold ends when its time is over, when the order is taken back, or when the agent that drains the ring has died or
/// has been silent for kSilenceLimit, stopped or stuck: a rank is never held where nobody could call it back.
class GateKeeper {
 public:
  /// How often a rank that is held looks whether it still has to be.
  static constexpr std::int64_t kLookInterval = 10'000'000;     ///< ns
  static constexpr std::int64_t kSilenceLimit = 5'000'000'000;  ///< ns; a busy machine may keep an agent for long.

  void attach(shm::Slot& slot, LaneWriter& lane, const PhaseTable& phases, const shm::Header& header,
              const shm::TraceRoom& traces);

  /// One load; obey has something to look at.
  bool is_called() const { return slot_->attention.load(std::memory_order_relaxed) != 0; }

  /// Before work begins: holds the rank for a delay that is due at `step` (kNoStep in a program without steps; the last
  /// one where there are none any more), then for the noise that falls on this work.
  void obey(wire::Step step);

  /// Where the rank comes by, but is not to obey: takes note of what it has done, for a trace that is being played, while
  /// its ring still holds it.
  void follow_work();

 private:
  bool obey_delay(wire::Step step);
  bool obey_noise();
  void begin_noise();
  std::int64_t draw();  ///< How long to hold the rank now, in ns; 0: not at all.
  std::int64_t draw_exponential();
  std::int64_t draw_periodic();
  void begin_trace();
  std::int64_t draw_trace();
  void follow(const wire::Event& event);
  void follow(wire::Phase phase, wire::Nanoseconds until);
  std::int64_t may_hold() const;
  bool agent_is_there();
  bool agent_is_silent();
  bool agent_was_there_lately();
  bool stands(wire::Phase phase);
  void sleep_until(wire::Phase phase, std::int64_t end_ns);
  void hold(wire::Phase phase, wire::CommandId command, std::int64_t duration_ns);
  void end_hold();

  /// That goes on.
  struct Hold {
    wire::Phase phase = wire::Phase::kNone;
    wire::CommandId command = 0;
    std::int64_t began_ns = 0;
    const void* frame = nullptr;  ///< Of whoever sleeps; null: nobody.
  };

  shm::Slot* slot_ = nullptr;
  LaneWriter* lane_ = nullptr;
  const PhaseTable* phases_ = nullptr;
  const shm::Header* header_ = nullptr;
  const shm::TraceRoom* traces_ = nullptr;
  std::int64_t looked_ns_ = 0;  ///< When the rank last looked for the agent.
  std::uint64_t sweeps_ = 0;    ///< Of the agent, as seen then.
  std::int64_t silent_ns_ = 0;  ///< How long they have stood at that.
  std::uint32_t noise_generation_ = 0;
  shm::Noise noise_;
  Random random_;
  std::int64_t period_ns_ = 0;
  std::int64_t next_interruption_ns_ = 0;
  // Of a trace.
  TracePlayer player_;
  std::uint64_t looked_at_ = 0;               ///< In the ring: the first event that was not looked at yet.
  wire::Nanoseconds looked_until_{};          ///< What came before is in `due_ns_`.
  wire::Phase goes_on_ = wire::Phase::kNone;  ///< From there on.
  std::int64_t due_ns_ = 0;                   ///< Has come due since the rank was held last.
  Hold held_;
};

}  // namespace idlewave::client
