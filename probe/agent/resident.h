#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "probe/agent/call_reader.h"
#include "probe/agent/event_frames.h"
#include "probe/agent/lane_reader.h"
#include "probe/agent/order_queue.h"
#include "probe/agent/partner_names.h"
#include "probe/agent/phase_names.h"
#include "probe/agent/segment.h"
#include "probe/agent/trace_shelf.h"
#include "probe/session/agent_record.h"
#include "probe/shm/gate.h"
#include "probe/shm/layout.h"
#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::agent {

/// What a rank says of itself when it joins, each field read once: it may write something else there a moment later.
struct Newcomer {
  wire::Rank rank = 0;
  wire::Rank world_size = 0;
  std::int32_t pid = 0;
  std::uint64_t process_start = 0;

  static Newcomer in(const shm::Slot& slot);
  bool is_plausible() const { return rank >= 0 && rank < world_size && world_size <= wire::kMaxRanks && pid > 0; }
  bool runs() const { return pid > 0 && process_start != 0 && session::process_start_time(pid) == process_start; }
  bool has_ended() const;  ///< For certain, by `pid` alone, which a rank writes before anything else.
};

/// What the node's ranks have named, by the node's numbers.
struct Names {
  PhaseNames phases;
  PartnerNames partners;
};

/// A rank that holds a slot of the segment, from its joining until its last event is on its way and the slot is free
/// again. What the rank wrote is checked here: its process may have died in the middle, or have overwritten its memory.
class Resident {
 public:
  /// The slot is kLive or kStopped. `earliest`: events of this lane before it were sent already. `held_before`: what
  /// orders have held earlier processes of this rank. An agent before this one may have heard whom it waits for: that is
  /// looked up, and comes into `names`.
  Resident(Segment& segment, std::uint32_t index, const Newcomer& who, wire::Nanoseconds now,
           wire::Nanoseconds earliest, wire::Nanoseconds held_before, Names& names);
  ~Resident();  ///< Leaves the slot as it is; see free_slot.
  Resident(const Resident&) = delete;
  Resident& operator=(const Resident&) = delete;

  /// How far the rank has written. What it writes from then on is for the next sweep, or a busy rank would hold the
  /// agent.
  std::uint64_t published() const { return lane_.published(); }
  /// One part in `parts` of a ring at least has to be drained yet: of its own, or of one of its threads'.
  bool is_filled(std::uint64_t parts) const;
  /// Appends what the rank wrote before position `end`, LaneReader::kAtOnce events at most; `read` is overwritten with the
  /// same events. True if that was all.
  bool drain(std::uint64_t end, Names& names, EventFrames& frames, std::vector<wire::Event>& read);
  /// Appends what the rank has summed since, if that is from before `due`; `read` is overwritten with the same. No earlier
  /// event than the one returned will come of what it had summed then.
  wire::Nanoseconds catch_up(wire::Nanoseconds due, Names& names, EventFrames& frames, std::vector<wire::Event>& read);
  /// Places for threads that were ever taken.
  std::uint32_t thread_places() const {
    return std::min(slot_.thread_places.load(std::memory_order_acquire), shm::kThreadPlaces);
  }
  /// As those without a place, of the thread there. One that has ended makes room for another when it has been drained.
  std::uint64_t published(std::uint32_t place) { return thread(place).lane.published(); }
  bool drain_thread(std::uint32_t place, std::uint64_t end, Names& names, EventFrames& frames,
                    std::vector<wire::Event>& read);
  wire::Nanoseconds catch_up_thread(std::uint32_t place, wire::Nanoseconds due, Names& names, EventFrames& frames,
                                    std::vector<wire::Event>& read);
  /// Whom the rank waits for, as the node numbers it; 0: it does not say.
  std::uint32_t cycle() const { return cycle_; }
  wire::StepSource step_source() const;
  /// The rank has stopped, or its process is gone: after one more drain nothing will come. Ask before published().
  bool is_over() const { return stopped() || process_gone_; }
  /// After the last drain and catch_up: tells what the rank did not live to tell; `read` is overwritten with the same. Its
  /// threads end with it.
  void append_end(wire::Nanoseconds now, EventFrames& frames, std::vector<wire::Event>& read);
  void free_slot();

  bool stopped() const { return slot_.state.load(std::memory_order_acquire) == shm::SlotState::kStopped; }
  void note_process_end(wire::Nanoseconds at) {
    if (!process_gone_) process_ended_at_ = at;
    process_gone_ = true;
  }
  /// Becomes readable when the process ends; -1 where the system has no such thing, and process_runs() tells.
  int process_fd() const { return process_fd_; }
  void forget_process_fd();
  bool process_runs() const { return who_.runs(); }
  bool is_process_of(const Newcomer& other) const {
    return who_.pid == other.pid && who_.process_start == other.process_start;
  }

  const shm::Slot& slot() const { return slot_; }
  shm::Slot& slot() { return slot_; }
  wire::Rank rank() const { return who_.rank; }
  std::int32_t pid() const { return who_.pid; }
  wire::Nanoseconds joined_at() const { return joined_at_; }
  wire::Nanoseconds last_event_at() const { return last_; }
  OrderQueue& orders() { return orders_; }
  std::size_t waiting_orders() const { return orders_.waiting(); }
  /// Replaces its noise. `trace`: where that lies that it plays; null if it plays none.
  void play(const shm::Noise& noise, TraceShelf::Loan trace);
  /// Ends the noise of that command, if no other has replaced it.
  void end_noise_of(wire::CommandId command);
  /// Ends every order, also what holds the rank now.
  void let_go();
  /// How long orders have held this rank in this session; what its process says is believed up to the cap.
  wire::Nanoseconds held() const;
  /// How long a further order may hold it.
  wire::Nanoseconds may_be_held() const;
  /// What it has done in MPI, if that is more than when it was asked last.
  std::optional<wire::RankCalls> new_calls() {
    return calls_.read_if_new(slot_.calls, who_.rank, who_.pid, who_.world_size);
  }
  void tell_calls_again() { calls_.forget(); }
  /// True once after each change of what the rank says about itself.
  bool has_news();

 private:
  /// A place for threads, one after the other.
  struct Thread {
    LaneReader lane;
    wire::Nanoseconds last;
    bool is_there = false;  ///< It has told something, and not its end.
  };
  Thread& thread(std::uint32_t place);
  void tell(std::vector<wire::Event>& read, Names& names, EventFrames& frames);
  void translate(wire::Event& event, Names& names);
  wire::LaneId lane_of_thread(std::uint32_t place) const { return wire::lane_of({who_.rank, int(place) + 1}); }
  void tell(std::uint32_t place, Thread& thread, std::vector<wire::Event>& read, Names& names, EventFrames& frames);
  void end_threads(wire::Nanoseconds at, EventFrames& frames);

  Segment& segment_;
  std::uint32_t index_;
  shm::Slot& slot_;
  LaneReader lane_;
  shm::Clock clock_;
  Newcomer who_;
  wire::Nanoseconds held_before_;
  int process_fd_ = -1;
  wire::Nanoseconds process_ended_at_{};
  bool process_gone_ = false;
  bool said_stop_ = false;
  std::uint32_t revision_ = 0;
  wire::Nanoseconds joined_at_;
  wire::Nanoseconds last_;
  wire::Nanoseconds earliest_;  ///< Events of its lanes before it were sent already.
  std::array<std::unique_ptr<Thread>, shm::kThreadPlaces> threads_;
  PhaseMap phases_;
  PartnerMap partners_;
  std::uint32_t cycle_ = 0;
  OrderQueue orders_;
  TraceShelf::Loan trace_;
  CallReader calls_;
};

}  // namespace idlewave::agent
