#pragma once

#include <cstdint>
#include <vector>

#include "probe/agent/event_frames.h"
#include "probe/agent/order_queue.h"
#include "probe/agent/phase_names.h"
#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// A rank that holds a slot of the segment, from its joining until its last event is on its way and the slot is free
/// again. What the rank wrote is checked here: its process may have died in the middle, or have overwritten its memory.
class Resident {
 public:
  /// The slot is kLive or kStopped. `earliest`: events of this lane before it were sent already.
  Resident(shm::Slot& slot, const wire::Event* ring, const shm::Header& header, wire::Nanoseconds now,
           wire::Nanoseconds earliest);
  ~Resident();  ///< Leaves the slot as it is; see free_slot.
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  static constexpr std::uint64_t kAtOnce = 1 << 13;
  /// How far the rank has written. What it writes from then on is for the next sweep, or a busy rank would hold the
  /// agent.
  std::uint64_t published() const { return slot_.head.load(std::memory_order_acquire); }
  /// Appends what the rank wrote before position `end`, kAtOnce events at most; `read` is overwritten with the same
  /// events. True if that was all.
  bool drain(std::uint64_t end, PhaseNames& names, EventFrames& frames, std::vector<wire::Event>& read);
  /// The rank has stopped, or its process is gone: after one more drain nothing will come. Ask before published().
  bool is_over() const { return stopped() || process_gone_; }
  /// After the last drain: tells what the rank did not live to tell; `read` is overwritten with the same.
  void append_end(wire::Nanoseconds now, EventFrames& frames, std::vector<wire::Event>& read);
  void free_slot();

  bool stopped() const { return slot_.state.load(std::memory_order_acquire) == shm::SlotState::kStopped; }
  void note_process_end() { process_gone_ = true; }
  /// Becomes readable when the process ends; -1 where the system has no such thing, and process_runs() tells.
  int process_fd() const { return process_fd_; }
  bool process_runs() const;

  const shm::Slot& slot() const { return slot_; }
  shm::Slot& slot() { return slot_; }
  wire::Rank rank() const { return rank_; }
  std::int32_t pid() const { return pid_; }
  wire::Nanoseconds joined_at() const { return joined_at_; }
  wire::Nanoseconds last_event_at() const { return last_; }
  OrderQueue& orders() { return orders_; }
  /// True once after each change of what the rank says about itself.
  bool has_news();

 private:
  wire::Event checked(wire::Event event, wire::Nanoseconds latest, PhaseNames& names);

  shm::Slot& slot_;
  const wire::Event* ring_;
  const shm::Header& header_;
  wire::Rank rank_;
  std::int32_t pid_;
  std::uint64_t process_start_;
  int process_fd_ = -1;
  bool process_gone_ = false;
  bool said_stop_ = false;
  std::uint32_t revision_ = 0;
  wire::Nanoseconds joined_at_;
  wire::Nanoseconds last_;
  PhaseMap phases_;
  OrderQueue orders_;
};

}  // namespace idlewave::agent
