#include "probe/agent/event_frames.h"

#include <algorithm>
#include <span>

namespace idlewave::agent {

void EventFrames::append(wire::LaneId lane, wire::Nanoseconds& lane_last, wire::Event event) {
  const bool is_of_thread = lane.kind == wire::LaneId::Kind::kRank && wire::thread_of(lane).thread != 0;
  add(is_of_thread ? threads_ : ranks_, lane, lane_last, event);
}

void EventFrames::append_meter(std::int32_t place, wire::Nanoseconds& lane_last, wire::Event event) {
  add(meters_, {wire::LaneId::Kind::kDomain, place}, lane_last, event);
}

void EventFrames::add(Collected& to, wire::LaneId lane, wire::Nanoseconds& lane_last, wire::Event event) {
  event.time = lane_last = std::max({event.time, lane_last, promised_});
  if (to.runs.empty() || to.runs.back().lane != lane) to.runs.push_back({lane, to.events.size()});
  to.events.push_back(event);
}

std::optional<wire::Nanoseconds> EventFrames::Collected::earliest() const {
  if (events.empty()) return std::nullopt;
  wire::Nanoseconds first = wire::Nanoseconds::max();
  for (const Run& run : runs) first = std::min(first, events[run.begin].time);
  return first;
}

std::optional<wire::Nanoseconds> EventFrames::earliest() const {
  std::optional<wire::Nanoseconds> first;
  for (const Collected* each : {&ranks_, &threads_, &meters_})
    if (const auto its = each->earliest()) first = std::min(first.value_or(*its), *its);
  return first;
}

void EventFrames::pack(Collected& from, std::vector<std::byte>& blob) {
  batches_.clear();
  for (std::size_t i = 0; i < from.runs.size(); ++i) {
    const std::size_t end = i + 1 < from.runs.size() ? from.runs[i + 1].begin : from.events.size();
    batches_.push_back(
        {from.runs[i].lane, std::span(from.events).subspan(from.runs[i].begin, end - from.runs[i].begin)});
  }
  wire::encode_events(batches_, blob);
  from.events.clear();
  from.runs.clear();
}

wire::Events EventFrames::take(wire::Nanoseconds up_to) {
  promised_ = std::max(promised_, up_to);
  wire::Events frame;
  frame.up_to = promised_;
  pack(ranks_, frame.blob);
  if (!threads_.events.empty()) pack(threads_, frame.threads);
  if (!meters_.events.empty()) pack(meters_, frame.meters);
  return frame;
}

}  // namespace idlewave::agent
