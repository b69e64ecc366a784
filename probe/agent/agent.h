#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "probe/agent/beginning.h"
#include "probe/agent/claim.h"
#include "probe/agent/deaths.h"
#include "probe/agent/domains.h"
#include "probe/agent/event_frames.h"
#include "probe/agent/resident.h"
#include "probe/agent/segment.h"
#include "probe/outlet/outlet.h"
#include "probe/shm/clock_reading.h"
#include "probe/wire/frame.h"
#include "probe/wire/result.h"

namespace idlewave::agent {

struct Options {
  std::string session;
  std::string listen;         ///< Empty: a socket in the session's folder.
  std::string connect;        ///< Empty: no monitor is looked for; session::kAtHand: in the session's folder.
  std::string key;            ///< Key file for tcp: key.agent to connect, key.server to listen.
  std::string listen_key;     ///< To listen, where it also connects.
  sampler::Places bandwidth;  ///< Where figures of memory bandwidth, and what else hardware tells, are read.
  std::optional<words::DomainCurve> calibrated;  ///< What the machine's domains can do where their ranks do not say.
  std::uint32_t slots = shm::kDefaultSlots;
  std::uint32_t ring_events = shm::kDefaultRingEvents;
  std::uint64_t buffer_bytes = 256u << 20;
  wire::Nanoseconds patience = std::chrono::seconds(60);  ///< For the first rank.
  bool allow_inject = false;                              ///< Delays and noise may be ordered.
  /// Both clocks of this machine at some earlier moment, which makes a start shorter (calibration.h).
  std::optional<shm::ClockReading> clock;
  /// Not empty: its agent and its ranks are dead, and what they left is told for it.
  std::string left_by;
};

/// What an agent needs before it can speak to anybody, and what outlives it: its place in the session's folder, and the
/// memory.
struct Post {
  std::unique_ptr<Claim> claim;
  std::unique_ptr<Segment> segment;
  std::string listen;
  pid_t keeper = 0;  ///< Ranks find the agent by this process; 0: by the agent's own.

  /// Null if the session has an agent already.
  static wire::Result<std::unique_ptr<Post>> take(const Options& options);
};

/// Collects what the ranks of one node say, sends it on, and gives them what operators order. One thread.
class Agent {
 public:
  /// When this returns, ranks can join. What another agent left in the memory of `post` is taken over: its ranks are
  /// let go, and what they have written since goes into a new stream.
  static wire::Result<std::unique_ptr<Agent>> open(const Options& options, Post post);

  /// Tells what lies in the memory of an agent that has died with all its ranks, and had not said its end.
  static wire::Status tell_what_is_left(const Options& options, std::unique_ptr<Segment> segment);

  /// Until all ranks have left and every attached monitor has everything, or `stop` is set (by a signal handler). Another
  /// program may follow the one whose ranks have left, for half a second unless `no_more_ranks` is set.
  void run(const std::atomic<bool>& stop, const std::atomic<bool>& no_more_ranks);

 private:
  struct Known {
    wire::RankInfo info;
    wire::Rank world_size = 0;
    std::string command_line;
    wire::Nanoseconds last{};  ///< Of its lane, when its process had left.
    wire::Nanoseconds held{};  ///< By orders, when its process had left.
  };

  Agent(const Options& options, Post post, std::unique_ptr<outlet::Outlet> outlet);

  wire::Nanoseconds now() const;
  void take_over();
  void stand_in_for_keeper();
  bool let_go();
  bool is_some_ring_filled() const;
  void meet_monitor(const std::atomic<bool>& stop);
  void watch_monitor(wire::Nanoseconds now);
  void learn_beginning();
  void see_ranks_end();
  void serve_until(wire::Nanoseconds next_look, const std::atomic<bool>& stop);
  wire::Nanoseconds pace() const;
  bool is_time_to_sweep(wire::Nanoseconds swept_at) const;
  bool somebody_needs_us() const;
  void sweep();
  void admit_newcomers(wire::Nanoseconds now);
  bool somebody_waits() const;
  bool can_admit(const Newcomer& who) const;
  void admit(std::uint32_t index, const Newcomer& who, wire::Nanoseconds now);
  void let_wait(std::uint32_t index, const Newcomer& who, Resident& first, wire::Nanoseconds now);
  void free_if_abandoned(std::uint32_t index, const Newcomer& who, wire::Nanoseconds now);
  void note_used(std::uint32_t index);
  void note_deaths(wire::Nanoseconds now);
  void watch_processes(wire::Nanoseconds now);
  wire::Nanoseconds drain(Resident& resident, wire::Nanoseconds began);
  wire::Nanoseconds drain_thread(Resident& resident, std::uint32_t place, wire::Nanoseconds due);
  bool drain_some(Resident& resident, std::uint64_t end);
  void note_news(Resident& resident, wire::Nanoseconds now);
  void collect_calls(wire::Nanoseconds now);
  void send_frames(wire::Nanoseconds now);
  void note_frames(std::uint64_t begun);
  void send_roster();
  bool somebody_began_to_follow() const;
  bool somebody_follows_another() const;
  void dismiss_ended();
  bool somebody_is_in();
  bool may_end(wire::Nanoseconds now, bool no_more_ranks);

  Options options_;
  std::unique_ptr<Claim> claim_;  ///< Outlives the outlet, whose socket lies in its folder.
  std::unique_ptr<Segment> segment_;
  TraceShelf traces_;
  pid_t keeper_;  ///< 0: none, or it is dead.
  std::unique_ptr<outlet::Outlet> outlet_;
  Domains domains_;
  Names names_;
  EventFrames frames_;
  Beginning beginning_;
  std::vector<wire::Event> read_;
  std::vector<wire::RankCalls> calls_;  ///< For the next frame.
  std::size_t call_entries_ = 0;        ///< Of it: functions and receivers.
  Deaths deaths_;
  std::map<wire::Rank, std::unique_ptr<Resident>> residents_;
  std::map<wire::Rank, Known> known_;
  std::vector<Resident*> in_slot_;  ///< Null: not admitted.
  std::uint32_t slots_used_ = 0;    ///< Slots from here on were never seen taken; ranks take the first free one.
  std::vector<wire::Rank> ended_;   ///< In this sweep; their slots are freed when everything is on its way.
  std::map<std::uint32_t, wire::Nanoseconds> claimed_since_;
  std::map<std::uint32_t, wire::Nanoseconds> waits_since_;  ///< By slot: for another process of the rank to leave.
  wire::Roster roster_;                                     ///< As sent last.
  bool roster_changed_ = true;
  bool was_watched_ = false;        ///< Somebody was attached at the last sweep.
  wire::Nanoseconds explain_at_{};  ///< When to look why the monitor that was named has not been heard; 0: no longer.
  wire::Nanoseconds frame_sent_at_{};
  wire::Nanoseconds processes_checked_at_{};
  wire::Nanoseconds calls_read_at_{};
  int listeners_ = 0;            ///< Attached when calls were read last.
  wire::Nanoseconds busy_at_{};  ///< When somebody was in last.
};

}  // namespace idlewave::agent
