#pragma once
// What happened, per rank and per domain, at several time resolutions, within a memory budget. Filled by ingest, read by analysis and view.
// Main thread only. No clock, no I/O.

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "monitor/timeline/lane.h"
#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// A contention domain of some node, with its dense index in the session.
struct Domain {
  std::string node;
  wire::DomainInfo info;
  std::vector<Rank> ranks;  ///< Ascending.
  /// Bandwidth samples, oldest first: `bytes` moved in (previous end, end].
  struct Sample {
    Nanoseconds begin{};
    Nanoseconds end{};
    std::uint64_t bytes = 0;
  };
  std::deque<Sample> samples;
};

enum class LossKind : std::uint8_t {
  kRingFull,     ///< A rank was faster than its agent. count: events.
  kSequenceGap,  ///< Frames of a node are missing. count: frames.
  kBadFrame,     ///< A frame that could not be read. count: frames.
  kTimeStep,     ///< A lane's time went back; the events were left out. count: events.
  kStranger,     ///< Events of a rank that was never announced. count: events.
  kRankLost,     ///< A rank's process died. count: 1.
  kDetail,       ///< A damaged part of a recording. count: blocks.
};
/// Where and how much is missing.
struct Loss {
  LossKind kind = LossKind::kBadFrame;
  std::string node;
  Rank rank = -1;  ///< -1: not of one rank.
  Nanoseconds from{};
  Nanoseconds to{};
  std::uint64_t count = 0;
  std::string detail;  ///< One line; may be empty.
};

/// An ordered or programmed hold of one rank, as the rank reported it.
struct Delay {
  Rank rank = 0;
  wire::CommandId command = 0;  ///< 0: the program's own.
  wire::Phase phase = wire::Phase::kDelay;
  wire::Step step = wire::kNoStep;  ///< Before whose work it was.
  Nanoseconds begin{};
  Nanoseconds end{};
  bool ended = false;
};

/// What an operator asked for, and what became of it.
struct CommandRecord {
  wire::Command command;
  Nanoseconds sent{};       ///< Session time when the answer (or, if sooner, the sent command) was seen.
  bool answered = false;
  bool accepted = false;
  std::string reason;
  Nanoseconds began{};      ///< Of the first rank's kDelayBegin with this id; valid if in_effect.
  Nanoseconds ended{};
  bool in_effect = false;
  bool over = false;
};

/// Times given and returned are session time: a node's clock minus that node's offset (see set_clock_offset), 0 at the first event.
class Timeline {
 public:
  explicit Timeline(std::uint64_t memory_budget_bytes = 512u << 20);

  // --- filled by ingest -------------------------------------------------------------------------------------------------------------
  /// Replaces what is known of a node. Ranks that were there keep their lanes. False (and no change) if it contradicts itself: a rank outside
  /// world_size or twice, an unknown domain, more than wire::kMaxRanks.
  bool apply_roster(const std::string& node, const wire::Roster& roster);
  void append(const std::string& node, wire::LaneId lane, std::span<const wire::Event> events);
  void advance(const std::string& node, Nanoseconds up_to);  ///< Node's clock. No event of that node will come with a smaller time.
  void add_loss(Loss loss);
  void add_command(const wire::Command& command, Nanoseconds at);  ///< One that this monitor sent.
  void add_outcome(const std::string& node, const wire::Outcome& outcome);
  void mark_ended(const std::string& node);  ///< Its stream is complete.

  // --- read by all ------------------------------------------------------------------------------------------------------------------
  bool empty() const;                ///< No event yet.
  Nanoseconds now() const;           ///< Live edge: every node has told everything before this.
  Nanoseconds begin() const;         ///< Oldest time of which anything is kept; at first 0.
  bool ended() const;                ///< Every node's stream is complete.

  Rank ranks() const;                ///< world_size announced.
  const Lane* lane(Rank rank) const; ///< Null for a rank that has not been announced by its node.
  const std::vector<Domain>& domains() const;
  int domain_of(Rank rank) const;    ///< Dense index into domains(); -1: not known.
  std::string phase_name(wire::Phase phase) const;
  const std::string& program() const;
  const std::string& machine() const;

  const std::deque<Loss>& losses() const;
  const std::deque<Delay>& delays() const;
  const std::deque<CommandRecord>& commands() const;

  std::uint64_t events() const;      ///< Received in all, also those whose detail is gone.
  std::uint64_t dropped() const;     ///< Sum of the events counted in losses (ring, time step, stranger), with the frames of gaps as at least 1 each.
  wire::Step latest_step() const;    ///< Largest step that any rank has begun.
  std::uint64_t bytes_used() const;  ///< At most the budget, plus what the announced ranks need at least.

  /// Shares of time in each category for a picture: `rows` are ranges of ranks, `columns` equal slices of [from, to).
  /// out[row * columns + column]. Costs in proportion to ranks covered times columns, whatever the number of events. Resolution: a slice is
  /// exact to the bucket of the level used, which is at most one slice wide.
  struct RankRange { Rank first = 0; Rank last = 0; };  ///< [first, last)
  void picture(std::span<const RankRange> rows, Nanoseconds from, Nanoseconds to, int columns, std::span<Shares> out) const;

 private:
  // (implementation)
};

}  // namespace idlewave::timeline
