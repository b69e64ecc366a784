#include "monitor/ingest/ingest.h"

#include <algorithm>
#include <utility>

namespace idlewave::ingest {
namespace {

using timeline::LossKind;

/// Two clocks whose readings differ by less than this are one clock, read at two moments.
constexpr Nanoseconds kSameClock = std::chrono::milliseconds(1);

/// A number further ahead than any stream gets by chance: with it whatever follows would have come already.
constexpr std::uint64_t kFarthestGap = std::uint64_t{1} << 40;

/// Clocks between 1970 and 2116, on machines that have been up for at most 36 years: differences of differences can't
/// overflow.
bool is_sane(const wire::Roster& roster) {
  constexpr std::int64_t kLongestUp = std::int64_t{1} << 60;
  constexpr std::int64_t kLatest = std::int64_t{1} << 62;
  const std::int64_t up = roster.node_time.count();
  return -kLongestUp < up && up < kLongestUp && roster.unix_time_ns >= 0 && roster.unix_time_ns < kLatest;
}

/// A file may say anything.
Nanoseconds elapsed(Nanoseconds from, Nanoseconds to) {
  if (to <= from) return Nanoseconds{0};
  const std::uint64_t length = std::uint64_t(to.count()) - std::uint64_t(from.count());
  return Nanoseconds(std::int64_t(std::min<std::uint64_t>(length, Nanoseconds::max().count())));
}

}  // namespace

void Ingest::accept(const wire::Result<wire::FrameInPlace>& read, Nanoseconds received_at, wire::Direction direction) {
  if (!read) return refuse({}, read.error().message);
  const wire::Frame& frame = read->frame;
  if (session_.empty()) session_ = frame.session;
  if (frame.session != session_) {
    ++stats_.foreign;
    return add_bad_frame(frame.node,
                         "frame of session \"" + frame.session + "\"; this is session \"" + session_ + "\"");
  }
  stats_.last_received = received_at;
  if (direction == wire::Direction::kReceived) return take(*read);
  take_own(frame);
}

/// Frames come now and then; what a node had told in the last one was its time when that was sent.
void Ingest::take_command(const wire::Command& command) {
  if (!last_told_) return tell(&Sink::command, command, std::string(), Nanoseconds{0});
  const auto& [node, stream] = *last_told_;
  const Nanoseconds later = std::min(elapsed(last_told_at_, stats_.last_received), wire::kLongestHold);
  const Nanoseconds at = std::min(stream.up_to, Nanoseconds::max() - later) + later;
  tell(&Sink::command, command, node, at);
}

/// What this monitor, or the host of the session, did.
void Ingest::take_own(const wire::Frame& frame) {
  if (const auto* command = std::get_if<wire::Command>(&frame.body)) take_command(*command);
  if (const auto* refusal = std::get_if<wire::Refusal>(&frame.body))
    tell(&Sink::absence, Absence{LossKind::kTurnedAway, frame.node, {}, 1, refusal->reason});
}

void Ingest::take(const wire::FrameInPlace& read) {
  const wire::Frame& frame = read.frame;
  if (!wire::is_sequenced(frame)) return;
  if (frame.node.empty() || frame.sequence == 0) return refuse(frame.node, "frame without a node or without a number");
  if (const auto* roster = std::get_if<wire::Roster>(&frame.body)) return take_roster(frame, *roster);
  const auto known = streams_.find(frame.node);
  if (known == streams_.end()) return take_from_stranger(read);
  if (!in_turn(frame, known->second)) return;
  take_next(read, known->second);
  if (!std::holds_alternative<wire::Events>(frame.body)) return;
  last_told_ = &*known;
  last_told_at_ = stats_.last_received;
}

void Ingest::take_next(const wire::FrameInPlace& read, Stream& stream) {
  const wire::Frame& frame = read.frame;
  ++stats_.frames;
  if (const auto* events = std::get_if<wire::Events>(&frame.body)) {
    take_events(read, stream, *events);
    tell_clock(frame.node, clocks_.take(frame.node, events->round_trips));
  } else if (const auto* outcome = std::get_if<wire::Outcome>(&frame.body)) {
    tell(&Sink::outcome, frame.node, *outcome);
  } else {
    stream.ended = true;
    tell_clock(frame.node, clocks_.settle(frame.node));
    tell(&Sink::end, frame.node);
  }
}

bool Ingest::in_turn(const wire::Frame& frame, Stream& stream) {
  if (frame.sequence <= stream.sequence || stream.is_past) {
    ++stats_.repeated;
    return false;
  }
  if (frame.sequence - stream.sequence > kFarthestGap) {
    refuse(frame.node, "frame number " + std::to_string(frame.sequence) + " after " + std::to_string(stream.sequence));
    return false;
  }
  if (frame.sequence > stream.sequence + 1) note_gap(frame, stream);
  stream.sequence = frame.sequence;
  return true;
}

void Ingest::note_gap(const wire::Frame& frame, Stream& stream) {
  const std::uint64_t missing = frame.sequence - stream.sequence - 1;
  // A recording that was started late opens with the latest roster, whose number is an old one.
  const auto kind = stream.has_events ? LossKind::kSequenceGap : LossKind::kBeforeStart;
  if (stream.has_events) tell(&Sink::interrupt, frame.node, stream.up_to);
  tell(&Sink::absence, Absence{kind, frame.node, {{stream.up_to, stream.up_to}}, missing, {}});
  stream.gap_is_open = stream.has_events;
  stats_.missing += missing;
}

/// What a gap left out lies before what comes after it.
void Ingest::close_gap(const std::string& node, Stream& stream, Nanoseconds up_to) {
  if (!std::exchange(stream.gap_is_open, false)) return;
  const Absence::Span gap{stream.up_to, std::max(up_to, stream.up_to)};
  tell(&Sink::absence, Absence{LossKind::kSequenceGap, node, gap, 0, {}});
}

void Ingest::take_roster(const wire::Frame& frame, const wire::Roster& roster) {
  const auto known = streams_.find(frame.node);
  const bool fresh = known == streams_.end();
  if (!fresh) {
    Stream& stream = known->second;
    const bool other_sender = roster.agent_pid != stream.agent_pid;
    stream.is_past = other_sender && roster.node_time < stream.roster_time;
    // A roster that came already is not younger than the latest; one that is, under an old number, is another sender's.
    const bool is_younger = roster.node_time > stream.roster_time && frame.sequence <= stream.sequence;
    if ((other_sender && !stream.is_past) || is_younger) begin_anew(frame, roster, stream);
    if (!in_turn(frame, stream)) return;
  }
  if (const wire::Status taken = announce(frame.node, roster); !taken) {
    const std::string& reason = taken.error().message;
    return fresh ? refuse_stream(frame.node, reason)
                 : refuse_in_stream(frame.node, known->second.up_to, roster.node_time, reason);
  }
  ++stats_.frames;
  if (fresh) {
    streams_[frame.node] = {.sequence = frame.sequence, .up_to = roster.node_time};
    align_clock(frame.node, roster);
    const std::uint64_t unheard = frames_before(frame, roster);
    note_late_start(frame.node, unheard);
    if (unheard > 0) streams_[frame.node].unheard_since = wire::beginning_of(roster);
  }
  learn_beginning(frame.node, roster);
  Stream& stream = streams_[frame.node];
  stream.agent_pid = roster.agent_pid;
  stream.roster_time = roster.node_time;
  stream.ended = false;
}

wire::Status Ingest::announce(const std::string& node, const wire::Roster& roster) {
  for (Sink* sink : sinks_)
    if (wire::Status taken = sink->roster(node, roster); !taken) return taken;
  return wire::ok();
}

/// Whether all that the agent before had taken out of the rings has come.
bool Ingest::nothing_was_lost(const wire::Roster& roster, const Stream& stream) {
  const auto& before = roster.taken_over;
  return before && !stream.ended && before->agent_pid == stream.agent_pid && before->last_frame <= stream.sequence;
}

/// An agent that was started again: after one that had said End, for the next program; else what happened between the
/// two was told by nobody, but where nothing was on its way.
void Ingest::begin_anew(const wire::Frame& frame, const wire::Roster& roster, Stream& stream) {
  const bool goes_on = nothing_was_lost(roster, stream);
  if (!goes_on) tell(&Sink::interrupt, frame.node, stream.up_to);
  const Absence::Span silence{stream.up_to, std::max(roster.node_time, stream.up_to)};
  if (!stream.ended && !goes_on)
    tell(&Sink::absence, Absence{LossKind::kNodeSilent, frame.node, silence, 1, "its agent was started again"});
  stream = {.sequence = frame.sequence - 1,
            .agent_pid = roster.agent_pid,
            .roster_time = roster.node_time,
            .up_to = goes_on ? stream.up_to : std::max(stream.up_to, roster.node_time)};
  note_late_start(frame.node, frame.sequence - 1);
}

/// The first one of a node that came: also those of an agent before its own.
std::uint64_t Ingest::frames_before(const wire::Frame& frame, const wire::Roster& roster) {
  const std::uint64_t of_another = roster.taken_over ? roster.taken_over->last_frame : 0;
  return std::max(frame.sequence - 1, of_another);
}

/// They are not lost: nobody listened.
void Ingest::note_late_start(const std::string& node, std::uint64_t frames) {
  if (frames > 0) tell(&Sink::absence, Absence{LossKind::kBeforeStart, node, {}, frames, {}});
}

/// What came before we listened lies between the session's beginning and the first event that we hear.
void Ingest::note_first_heard(const std::string& node, Stream& stream, std::span<const wire::LaneBatch> batches,
                              Nanoseconds up_to) {
  const auto since = std::exchange(stream.unheard_since, std::nullopt);
  if (!since) return;
  Nanoseconds first = std::max(up_to, *since);
  for (const wire::LaneBatch& batch : batches)
    if (!batch.events.empty()) first = std::min(first, batch.events.front().time);
  tell(&Sink::absence, Absence{LossKind::kBeforeStart, node, {{*since, std::max(first, *since)}}, 0, {}});
}

/// The first word holds, whoever says another one later.
void Ingest::learn_beginning(const std::string& node, const wire::Roster& roster) {
  const auto began = wire::beginning_of(roster);
  if (began && !std::exchange(knows_beginning_, true)) tell(&Sink::beginning, node, *began);
}

/// Until they are compared, monotonic clocks of different machines have nothing in common but the wall clock, good to
/// some milliseconds where it is kept by NTP.
void Ingest::align_clock(const std::string& node, const wire::Roster& roster) {
  const bool simulated = roster.agent_pid == 0;  // all its nodes share one clock
  if (simulated || !is_sane(roster)) return;
  const Nanoseconds difference = roster.node_time - Nanoseconds(roster.unix_time_ns);
  if (!clock_minus_wall_) clock_minus_wall_ = difference;
  const Nanoseconds offset = difference - *clock_minus_wall_;
  const bool is_same = offset <= kSameClock && offset >= -kSameClock;
  clocks_.guess(node, is_same ? Nanoseconds(0) : offset);
  if (is_same) return;
  tell(&Sink::clock, node, timeline::ClockCurve{{{{}, offset}}, {}});
}

void Ingest::tell_clock(const std::string& node, const std::optional<timeline::ClockCurve>& curve) {
  if (curve) tell(&Sink::clock, node, *curve);
}

void Ingest::take_events(const wire::FrameInPlace& read, Stream& stream, const wire::Events& events) {
  const Nanoseconds up_to = events.up_to;
  const std::string& node = read.frame.node;
  close_gap(node, stream, up_to);
  const auto batches = decoder_.decode(read.blob);
  if (batches) {
    note_first_heard(node, stream, *batches, up_to);
    tell(&Sink::events, node, *batches);
  } else {
    tell(&Sink::interrupt, node, stream.up_to);
    refuse_in_stream(node, stream.up_to, up_to, batches.error().message);
  }
  take_blob(node, stream, events.threads, up_to, &Sink::threads);
  take_blob(node, stream, events.meters, up_to, &Sink::meters);
  if (!events.calls.empty()) tell(&Sink::calls, node, std::span<const wire::RankCalls>(events.calls));
  stream.has_events = true;
  stream.up_to = std::max(stream.up_to, up_to);
  tell(&Sink::advance, node, stream.up_to);
}

/// One that stands beside that of ranks and domains; may be empty.
void Ingest::take_blob(const std::string& node, const Stream& stream, const std::vector<std::byte>& blob,
                       Nanoseconds up_to, TellBatches tell_it) {
  if (blob.empty()) return;
  const auto batches = decoder_.decode(blob);
  if (batches) return tell(tell_it, node, *batches);
  refuse_in_stream(node, stream.up_to, up_to, batches.error().message);
}

void Ingest::take_from_stranger(const wire::FrameInPlace& read) {
  const wire::Frame& frame = read.frame;
  if (!std::holds_alternative<wire::Events>(frame.body))
    return refuse(frame.node, "node \"" + frame.node + "\" has not announced itself");
  const auto batches = decoder_.decode(read.blob);
  if (!batches) return refuse(frame.node, batches.error().message);
  tell(&Sink::events, frame.node, *batches);
}

void Ingest::refuse(const std::string& node, std::string reason) {
  ++stats_.bad;
  add_bad_frame(node, std::move(reason));
}

/// All that it will tell is missing, and when that was is not known.
void Ingest::refuse_stream(const std::string& node, std::string reason) {
  ++stats_.bad;
  tell(&Sink::absence, Absence{LossKind::kUnreadable, node, {}, 1, std::move(reason)});
}

/// `from`, `to`: node's clock.
void Ingest::refuse_in_stream(const std::string& node, Nanoseconds from, Nanoseconds to, std::string reason) {
  ++stats_.bad;
  const Absence::Span hole{from, std::max(from, to)};
  tell(&Sink::absence, Absence{LossKind::kUnreadable, node, hole, 1, std::move(reason)});
}

void Ingest::add_bad_frame(const std::string& node, std::string reason) {
  tell(&Sink::absence, Absence{LossKind::kBadFrame, node, {}, 1, std::move(reason)});
}

}  // namespace idlewave::ingest
