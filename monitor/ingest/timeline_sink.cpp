#include "monitor/ingest/timeline_sink.h"

#include <algorithm>

namespace idlewave::ingest {

wire::Status TimelineSink::roster(const std::string& node, const wire::Roster& roster) {
  if (timeline_.apply_roster(node, roster)) return wire::ok();
  const bool too_much = !timeline_.has_room_for(node, roster);
  return wire::Error{"roster of node \"" + node + "\" " +
                     (too_much ? "declares more ranks or domains than fit into the memory for the history"
                               : "contradicts itself or another node's") +
                     ": left out"};
}

void TimelineSink::beginning(const std::string& node, Nanoseconds at) { timeline_.begin_at(node, at); }

void TimelineSink::clock(const std::string& node, const timeline::ClockCurve& curve) {
  timeline_.set_clock(node, curve);
}

void TimelineSink::events(const std::string& node, std::span<const wire::LaneBatch> batches) {
  if (timeline_.empty()) begin(node, batches);
  for (const wire::LaneBatch& batch : batches) timeline_.append(node, batch.lane, batch.events);
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

void TimelineSink::advance(const std::string& node, Nanoseconds up_to) { timeline_.advance(node, up_to); }

void TimelineSink::interrupt(const std::string& node, Nanoseconds from) { timeline_.interrupt(node, from); }

void TimelineSink::absence(const Absence& absence) {
  timeline::Moment from = timeline_.now(), to = from;
  if (absence.when) {
    from = timeline_.moment(absence.node, absence.when->from);
    to = timeline_.moment(absence.node, absence.when->to);
  }
  timeline_.add_loss({absence.kind, absence.node, -1, from, to, absence.count, absence.detail});
}

void TimelineSink::command(const wire::Command& command) { timeline_.add_command(command, timeline_.now()); }

void TimelineSink::outcome(const std::string& node, const wire::Outcome& outcome) {
  timeline_.add_outcome(node, outcome);
}

void TimelineSink::end(const std::string& node) { timeline_.mark_ended(node); }

}  // namespace idlewave::ingest
