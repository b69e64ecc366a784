#include "monitor/ingest/timeline_sink.h"

#include <algorithm>

namespace idlewave::ingest {
namespace {

/// Six hundred for each of ten thousand ranks; ninety-six megabytes. When there are as many, the timeline is told all but
/// the latest third, and does not make what that will have it forget.
constexpr std::size_t kMostBehind = 3 << 21;
constexpr std::size_t kMostFramesBehind = 4096;
constexpr std::size_t kShareAhead = 3;
constexpr std::int32_t kNoMeter = -1;

}  // namespace

void TimelineSink::settle() {
  gathers_ = false;
  catch_up();
  timeline_.give_back_room();
  rooms_.clear();
}

wire::Status TimelineSink::roster(const std::string& node, const wire::Roster& roster) {
  catch_up();
  if (timeline_.apply_roster(node, roster)) return wire::ok();
  const std::string whose = "roster of node \"" + node + "\" ";
  if (const auto claimed = timeline_.claimed_by_another(node, roster))
    return wire::Error{whose + "claims rank " + std::to_string(claimed->first) + ", which node \"" + claimed->second +
                       "\" has: left out"};
  const bool too_much = !timeline_.has_room_for(node, roster);
  return wire::Error{
      whose +
      (too_much ? "declares more ranks or domains than fit into the memory for the history" : "contradicts itself") +
      ": left out"};
}

void TimelineSink::beginning(const std::string& node, Nanoseconds at) {
  catch_up();
  timeline_.begin_at(node, at);
}

void TimelineSink::clock(const std::string& node, const timeline::ClockCurve& curve) {
  catch_up();
  timeline_.set_clock(node, curve);
}

void TimelineSink::events(const std::string& node, std::span<const wire::LaneBatch> batches) {
  const bool is_first = timeline_.empty();
  if (is_first) begin(node, batches);
  if (gathers_ && !is_first) return put_off(node, batches);
  for (const wire::LaneBatch& batch : batches) timeline_.append(node, batch.lane, batch.events);
}

void TimelineSink::put_off(const std::string& node, std::span<const wire::LaneBatch> batches) {
  Behind& frame = behind_.emplace_back();
  if (!rooms_.empty()) {
    frame.events = std::move(rooms_.back());
    rooms_.pop_back();
  }
  for (const wire::LaneBatch& batch : batches)
    frame.events.insert(frame.events.end(), batch.events.begin(), batch.events.end());
  lanes_.clear();
  std::span<const wire::Event> left = frame.events;
  for (const wire::LaneBatch& batch : batches) {
    lanes_.push_back({batch.lane, left.first(batch.events.size())});
    left = left.subspan(batch.events.size());
  }
  timeline_.put_off(node, lanes_);
  frame.end = timeline_.put_off_until();
  events_behind_ += frame.events.size();
  drop_appended();
  if (events_behind_ >= kMostBehind || behind_.size() >= kMostFramesBehind) append_oldest();
}

void TimelineSink::append_oldest() {
  const std::size_t events = events_behind_ / kShareAhead, frames = behind_.size() / kShareAhead;
  timeline::ByRank::Number end = 0;
  std::size_t count = 0, left = events_behind_;
  for (; count < behind_.size() && (left > events || behind_.size() - count > frames); ++count) {
    end = behind_[count].end;
    left -= behind_[count].events.size();
  }
  timeline_.append_put_off(end);
  drop_appended();
}

void TimelineSink::drop_appended() {
  while (!behind_.empty() && behind_.front().end <= timeline_.put_off_from()) {
    std::vector<wire::Event>& events = behind_.front().events;
    events_behind_ -= events.size();
    events.clear();
    rooms_.push_back(std::move(events));
    behind_.pop_front();
  }
}

void TimelineSink::catch_up() {
  if (events_behind_ > kMostBehind - kMostBehind / kShareAhead) append_oldest();
  timeline_.append_put_off(timeline_.put_off_until());
  drop_appended();
}

/// Where nobody says when the session began, that is the earliest event of the first frame, whichever lane comes first.
void TimelineSink::begin(const std::string& node, std::span<const wire::LaneBatch> batches) {
  Nanoseconds first = Nanoseconds::max();
  for (const wire::LaneBatch& batch : batches)
    if (!batch.events.empty() && is_announced(batch.lane)) first = std::min(first, batch.events.front().time);
  timeline_.begin_at(node, first);
}

bool TimelineSink::is_announced(wire::LaneId lane) const {
  return lane.kind == wire::LaneId::Kind::kDomain || timeline_.lane(lane.index) != nullptr;
}

void TimelineSink::threads(const std::string& node, std::span<const wire::LaneBatch> batches) {
  catch_up();
  for (const wire::LaneBatch& batch : batches) timeline_.append(node, wire::thread_of(batch.lane), batch.events);
}

void TimelineSink::meters(const std::string& node, std::span<const wire::LaneBatch> batches) {
  catch_up();
  for (const wire::LaneBatch& batch : batches) {
    const bool is_meter = batch.lane.kind == wire::LaneId::Kind::kDomain;
    timeline_.append_meter(node, is_meter ? batch.lane.index : kNoMeter, batch.events);
  }
}

void TimelineSink::calls(const std::string& node, std::span<const wire::RankCalls> calls) {
  for (const wire::RankCalls& rank : calls) timeline_.set_calls(node, rank);
}

void TimelineSink::advance(const std::string& node, Nanoseconds up_to) { timeline_.advance(node, up_to); }

void TimelineSink::interrupt(const std::string& node, Nanoseconds from) {
  catch_up();
  timeline_.interrupt(node, from);
}

void TimelineSink::absence(const Absence& absence) {
  catch_up();
  timeline::Moment from = timeline_.now(), to = from;
  if (absence.when) {
    from = timeline_.moment(absence.node, absence.when->from);
    to = timeline_.moment(absence.node, absence.when->to);
  }
  timeline_.add_loss({absence.kind, absence.node, -1, from, to, absence.count, absence.detail});
}

void TimelineSink::command(const wire::Command& command, const std::string& node, Nanoseconds at) {
  catch_up();
  const Nanoseconds told = node.empty() ? timeline_.now() : timeline_.session_time(node, at);
  timeline_.add_command(command, std::max(told, timeline_.now()));
}

void TimelineSink::outcome(const std::string& node, const wire::Outcome& outcome) {
  catch_up();
  timeline_.add_outcome(node, outcome);
}

void TimelineSink::end(const std::string& node) {
  catch_up();
  timeline_.mark_ended(node);
}

}  // namespace idlewave::ingest
