#include "probe/agent/event_frames.h"

#include <algorithm>
#include <span>

namespace idlewave::agent {

void EventFrames::append(wire::LaneId lane, wire::Nanoseconds& lane_last, wire::Event event) {
  event.time = lane_last = std::max({event.time, lane_last, promised_});
  if (runs_.empty() || runs_.back().lane != lane) runs_.push_back({lane, events_.size()});
  events_.push_back(event);
}

std::optional<wire::Nanoseconds> EventFrames::earliest() const {
  if (events_.empty()) return std::nullopt;
  wire::Nanoseconds first = wire::Nanoseconds::max();
  for (const Run& run : runs_) first = std::min(first, events_[run.begin].time);
  return first;
}

wire::Events EventFrames::take(wire::Nanoseconds up_to) {
  batches_.clear();
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t end = i + 1 < runs_.size() ? runs_[i + 1].begin : events_.size();
    batches_.push_back({runs_[i].lane, std::span(events_).subspan(runs_[i].begin, end - runs_[i].begin)});
  }
  promised_ = std::max(promised_, up_to);
  wire::Events frame;
  frame.up_to = promised_;
  wire::encode_events(batches_, frame.blob);
  events_.clear();
  runs_.clear();
  return frame;
}

}  // namespace idlewave::agent
