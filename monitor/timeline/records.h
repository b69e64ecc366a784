#pragma once
// What a timeline keeps beside the lanes: domains, losses, delays and commands. Plain values; their moments are kept as
// they were told, and read as session time.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/timeline/node_clock.h"
#include "probe/wire/frame.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

using wire::Nanoseconds;
using wire::Rank;

/// A contention domain of some node, with its dense index in the session.
struct Domain {
  std::string node;
  wire::DomainInfo info;
  std::vector<Rank> ranks;  ///< Ascending.
  std::vector<int> meters;  ///< Its own, indices into Timeline::meters().
};

/// Whom a rank waits for in the steps of a cycle. What it points to stays until its node announces itself anew.
struct DeclaredWaits {
  const wire::WaitCycle* cycle = nullptr;
  std::span<const wire::WaitPattern> patterns;  ///< Which the cycle's steps name.
};

/// One of a domain's meters.
struct Meter {
  int domain = 0;  ///< Dense index, as that of Domain.
  wire::MeterInfo info;
};

/// What was counted in (begin, end]: of the bandwidth of a domain bytes, of a meter its unit times seconds, in steps of
/// wire::kMeterStep.
struct Sample {
  Nanoseconds begin{};
  Nanoseconds end{};
  std::uint64_t amount = 0;

  Sample in_session(const NodeClock& clock) const {
    return {clock.session_time(begin), clock.session_time(end), amount};
  }
};

/// Over a whole session, as far as it is known.
struct CountedEver {
  std::uint64_t amount = 0;  ///< As in a sample.
  Nanoseconds covered{};     ///< Of which time that is; by the node's clock.
};

enum class LossKind : std::uint8_t {
  kRingFull,     ///< A rank was faster than its agent. count: events.
  kSequenceGap,  ///< Frames of a node are missing. count: frames.
  kTurnedAway,   ///< Somebody spoke for a node that was not his. Nothing is missing. count: times it was told.
  kBadFrame,     ///< A frame that belongs to no stream: unreadable, or somebody else's. count: frames.
  kUnreadable,   ///< A frame of a node's stream that could not be used, so that what it told is missing. count: frames.
  kTimeStep,     ///< A lane's time went back; the events were left out. count: events.
  kStranger,     ///< Events of a rank that was never announced. count: events.
  kNoRoom,       ///< Of ranks beyond those that the memory budget has room for. count: events; detail: so many ranks.
  kRankLost,     ///< A rank's process died. count: 1.
  kNodeSilent,   ///< Nobody told what a node did: its agent died, or was not heard any more. count: 1.
  kRankSilent,   ///< A rank was announced and never reported, or nobody announced it. count: ranks.
  kDetail,       ///< A damaged part of a recording. count: blocks.
  kBeforeStart,  ///< What a node had told before this monitor (or this recording) began to listen. count: frames.
  kNotClosed,    ///< Whoever wrote the recording was killed: what may have come behind its last frame. count: 1.
  kUnseenCalls,  ///< Of threads of a rank of which nothing more is known. count: calls.
};
inline constexpr int kLossKinds = int(LossKind::kUnseenCalls) + 1;

/// As reports name it.
constexpr std::string_view name_of(LossKind kind) {
  switch (kind) {
    case LossKind::kRingFull: return "ring_full";
    case LossKind::kSequenceGap: return "sequence_gap";
    case LossKind::kTurnedAway: return "turned_away";
    case LossKind::kBadFrame: return "bad_frame";
    case LossKind::kUnreadable: return "unreadable";
    case LossKind::kTimeStep: return "time_step";
    case LossKind::kStranger: return "stranger";
    case LossKind::kNoRoom: return "no_room";
    case LossKind::kRankLost: return "rank_lost";
    case LossKind::kNodeSilent: return "node_silent";
    case LossKind::kRankSilent: return "rank_silent";
    case LossKind::kDetail: return "damaged_recording";
    case LossKind::kBeforeStart: return "before_start";
    case LossKind::kNotClosed: return "recording_not_closed";
    case LossKind::kUnseenCalls: return "unseen_calls";
  }
  return {};
}

/// True where something that a rank did is not known. A bad frame is nobody's, who was turned away is nobody, and a
/// rank that died had told everything.
constexpr bool is_hole(LossKind kind) {
  return kind != LossKind::kBadFrame && kind != LossKind::kTurnedAway && kind != LossKind::kRankLost;
}

/// Where and how much is missing.
struct Loss {
  LossKind kind = LossKind::kBadFrame;
  std::string node;
  Rank rank = -1;  ///< -1: not of one rank.
  Moment from;
  Moment to;
  std::uint64_t count = 0;
  std::string detail;  ///< One line; may be empty.
};

/// An ordered or programmed one-off hold of one rank, as the rank reported it. Noise comes with every phase and is told
/// by shares, step records and its command instead.
struct Delay {
  Rank rank = 0;
  wire::CommandId command = 0;  ///< 0: the program's own.
  wire::Phase phase = wire::Phase::kDelay;
  wire::Step step = wire::kNoStep;  ///< Before whose work it was.
  Moment begin;
  Moment end;
  bool ended = false;
  bool by_phase = false;  ///< The program's own, of which the phase alone tells.
};

/// What an operator asked for, and what became of it.
struct CommandRecord {
  wire::Command command;
  Moment sent;  ///< When the answer (or, if sooner, the sent command) was seen.
  bool answered = false;
  bool accepted = false;
  std::string reason;
  bool in_effect = false;
  bool over = false;  ///< Every rank that was named has been held and released; noise: it was cleared or replaced.
  Rank released = 0;  ///< Ranks whose delay has ended.

  Nanoseconds began() const;  ///< The first kDelayBegin with this id; valid if in_effect.
  Nanoseconds ended() const;  ///< The latest kDelayEnd with this id, or the order that ended the noise; valid if over.

  /// What the ranks of one node told, lane time. Kept for each node, since which of them was the first depends on what
  /// is known of their clocks.
  struct Holds {
    std::optional<Nanoseconds> first_began;
    std::optional<Nanoseconds> last_ended;
    bool stands = false;  ///< Noise that ends with its giver, whom this node has not lost.
  };
  std::map<const NodeClock*, Holds> holds;
  std::optional<Moment> superseded;
  wire::CommandId superseded_by = 0;
};

}  // namespace idlewave::timeline
