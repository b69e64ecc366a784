#include "monitor/ingest/ingest.h"

#include <algorithm>

namespace idlewave::ingest {
namespace {

using timeline::LossKind;

/// Two clocks whose readings differ by less than this are one clock, read at two moments.
constexpr Nanoseconds kSameClock = std::chrono::milliseconds(1);

/// A new sender under the name of one that was there: an agent that was started again. Only a new roster can tell.
bool starts_anew(const wire::Roster& roster, std::uint64_t sequence, std::uint64_t latest, std::int32_t agent_pid,
                 bool ended) {
  return sequence <= latest && (ended || roster.agent_pid != agent_pid);
}

/// Clocks between 1970 and 2116, on machines that have been up for at most 36 years: differences of differences can't
/// overflow.
bool is_sane(const wire::Roster& roster) {
  constexpr std::int64_t kLongestUp = std::int64_t{1} << 60;
  constexpr std::int64_t kLatest = std::int64_t{1} << 62;
  const std::int64_t up = roster.node_time.count();
  return -kLongestUp < up && up < kLongestUp && roster.unix_time_ns >= 0 && roster.unix_time_ns < kLatest;
}

}  // namespace

void Ingest::accept(std::span<const std::byte> bytes, Nanoseconds received_at, wire::Direction direction) {
  const wire::Result<wire::Frame> frame = wire::decode(bytes);
  if (!frame) return refuse({}, frame.error().message);
  if (session_.empty()) session_ = frame->session;
  if (frame->session != session_) {
    ++stats_.foreign;
    return add_bad_frame(frame->node,
                         "frame of session \"" + frame->session + "\"; this is session \"" + session_ + "\"");
  }
  stats_.last_received = received_at;
  if (direction == wire::Direction::kReceived) return take(*frame);
  if (const auto* command = std::get_if<wire::Command>(&frame->body)) timeline_.add_command(*command, timeline_.now());
}

void Ingest::take(const wire::Frame& frame) {
  if (!wire::is_sequenced(frame)) return;
  if (frame.node.empty() || frame.sequence == 0) return refuse(frame.node, "frame without a node or without a number");
  if (const auto* roster = std::get_if<wire::Roster>(&frame.body)) return take_roster(frame, *roster);
  const auto known = streams_.find(frame.node);
  if (known == streams_.end()) return take_from_stranger(frame);
  Stream& stream = known->second;
  if (!in_turn(frame, stream)) return;
  ++stats_.frames;
  if (const auto* events = std::get_if<wire::Events>(&frame.body)) {
    take_events(frame.node, stream, *events);
  } else if (const auto* outcome = std::get_if<wire::Outcome>(&frame.body)) {
    timeline_.add_outcome(frame.node, *outcome);
  } else {
    stream.ended = true;
    timeline_.mark_ended(frame.node);
  }
}

bool Ingest::in_turn(const wire::Frame& frame, Stream& stream) {
  if (frame.sequence <= stream.sequence) {
    ++stats_.repeated;
    return false;
  }
  if (frame.sequence > stream.sequence + 1) note_gap(frame, stream);
  stream.sequence = frame.sequence;
  return true;
}

void Ingest::note_gap(const wire::Frame& frame, const Stream& stream) {
  const std::uint64_t missing = frame.sequence - stream.sequence - 1;
  const auto* events = std::get_if<wire::Events>(&frame.body);
  const Nanoseconds to = events != nullptr ? std::max(events->up_to, stream.up_to) : stream.up_to;
  // A recording that was started late opens with the latest roster, whose number is an old one.
  if (stream.has_events) timeline_.interrupt(frame.node, stream.up_to);
  timeline_.add_loss({stream.has_events ? LossKind::kSequenceGap : LossKind::kBeforeStart,
                      frame.node,
                      -1,
                      timeline_.session_time(frame.node, stream.up_to),
                      timeline_.session_time(frame.node, to),
                      missing,
                      {}});
  stats_.missing += missing;
}

void Ingest::take_roster(const wire::Frame& frame, const wire::Roster& roster) {
  const auto known = streams_.find(frame.node);
  const bool fresh = known == streams_.end();
  if (!fresh) {
    Stream& stream = known->second;
    if (starts_anew(roster, frame.sequence, stream.sequence, stream.agent_pid, stream.ended)) {
      timeline_.interrupt(frame.node, stream.up_to);
      stream = {.sequence = frame.sequence - 1, .up_to = stream.up_to};
    }
    if (!in_turn(frame, stream)) return;
  }
  if (!timeline_.apply_roster(frame.node, roster)) {
    return refuse(frame.node, "roster of node \"" + frame.node + "\" contradicts itself or another node's: left out");
  }
  ++stats_.frames;
  if (fresh) {
    streams_[frame.node] = {.sequence = frame.sequence, .up_to = roster.node_time};
    align_clock(frame.node, roster);
  }
  Stream& stream = streams_[frame.node];
  stream.agent_pid = roster.agent_pid;
  stream.ended = false;
}

/// Monotonic clocks of different machines have nothing in common but the wall clock, good to some milliseconds where it
/// is kept by NTP.
void Ingest::align_clock(const std::string& node, const wire::Roster& roster) {
  const bool simulated = roster.agent_pid == 0;  // all its nodes share one clock
  if (simulated || !is_sane(roster)) return;
  const Nanoseconds difference = roster.node_time - Nanoseconds(roster.unix_time_ns);
  if (!clock_minus_wall_) clock_minus_wall_ = difference;
  const Nanoseconds offset = difference - *clock_minus_wall_;
  if (offset > kSameClock || offset < -kSameClock) timeline_.set_clock_offset(node, offset);
}

void Ingest::take_events(const std::string& node, Stream& stream, const wire::Events& events) {
  const auto batches = decoder_.decode(events.blob);
  if (batches) {
    fill(node, *batches);
  } else {
    timeline_.interrupt(node, stream.up_to);
    refuse(node, batches.error().message);
  }
  stream.has_events = true;
  stream.up_to = std::max(stream.up_to, events.up_to);
  timeline_.advance(node, stream.up_to);
}

void Ingest::fill(const std::string& node, std::span<const wire::LaneBatch> batches) {
  if (timeline_.empty()) {
    Nanoseconds first = Nanoseconds::max();
    for (const wire::LaneBatch& batch : batches)
      if (!batch.events.empty() && is_announced(batch.lane)) first = std::min(first, batch.events.front().time);
    timeline_.begin_at(node, first);
  }
  for (const wire::LaneBatch& batch : batches) timeline_.append(node, batch.lane, batch.events);
}

bool Ingest::is_announced(wire::LaneId lane) const {
  return lane.kind == wire::LaneId::Kind::kDomain || timeline_.lane(lane.index) != nullptr;
}

void Ingest::take_from_stranger(const wire::Frame& frame) {
  const auto* events = std::get_if<wire::Events>(&frame.body);
  if (events == nullptr) return refuse(frame.node, "node \"" + frame.node + "\" has not announced itself");
  const auto batches = decoder_.decode(events->blob);
  if (!batches) return refuse(frame.node, batches.error().message);
  for (const wire::LaneBatch& batch : *batches) timeline_.append(frame.node, batch.lane, batch.events);
}

void Ingest::refuse(const std::string& node, std::string reason) {
  ++stats_.bad;
  add_bad_frame(node, std::move(reason));
}

void Ingest::add_bad_frame(const std::string& node, std::string reason) {
  timeline_.add_loss({LossKind::kBadFrame, node, -1, timeline_.now(), timeline_.now(), 1, std::move(reason)});
}

}  // namespace idlewave::ingest
