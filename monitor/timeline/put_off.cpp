#include <algorithm>

#include "monitor/timeline/timeline.h"

namespace idlewave::timeline {

void Timeline::put_off(const std::string& name, std::span<const LaneEvents> batches) {
  const auto found = nodes_.find(name);
  for (const LaneEvents& batch : batches) {
    if (batch.events.empty()) continue;
    if (found != nodes_.end() && only_goes_on(found->second, batch)) {
      put_off_.add(found->first, batch.lane.index, batch.events);
      continue;
    }
    if (batch.lane.kind == wire::LaneId::Kind::kRank) append_put_off(put_off_.next());
    append(name, batch.lane, batch.events);
  }
}

/// Nothing comes of these events but the history of their rank: whatever is told of other ranks meanwhile, it is the same.
bool Timeline::only_goes_on(const Node& node, const LaneEvents& told) const {
  const auto rank = std::size_t(told.lane.index);
  if (!has_origin_ || told.lane.kind != wire::LaneId::Kind::kRank || told.lane.index < 0) return false;
  if (rank >= places_.size() || places_[rank].node != &node) return false;
  const RankPlace& place = places_[rank];
  if (!place.lane->history_) return false;  // There may be no room for it.
  Nanoseconds last = put_off_.until(told.lane.index);
  if (!plausible(told.events.front().time) || !plausible(told.events.back().time)) return false;
  if (last == Nanoseconds::min()) last = place.lane->last_ + node.clock.base;
  for (const wire::Event& event : told.events) {
    if (event.time < last || is_told_in_order(place, event)) return false;
    last = event.time;
  }
  return true;
}

/// Delays and losses of all ranks stand in one list.
bool Timeline::is_told_in_order(const RankPlace& place, const wire::Event& event) const {
  if ((event.phase == wire::Phase::kDelay) != place.own_delay.goes_on()) return true;
  switch (event.kind) {
    case wire::EventKind::kDelayBegin: return event.value != 0 || event.phase == wire::Phase::kDelay;
    case wire::EventKind::kDelayEnd: return event.value != 0 || place.open_delay != DelayLog::kNone;
    case wire::EventKind::kDropped:
    case wire::EventKind::kLost: return true;
    default: return false;
  }
}

/// Blocks are forgotten in the order in which they would have been begun otherwise.
void Timeline::append_put_off(ByRank::Number end) {
  struct Begun {
    ByRank::Number with;
    Lane* lane;
  };
  std::vector<Begun> begun;
  for (const Rank rank : put_off_.ranks()) {
    if (!put_off_.has_before(end, rank)) continue;
    RankPlace& place = places_[std::size_t(rank)];
    const std::string& node = put_off_.node(rank);
    const Nanoseconds base = place.node->clock.base;
    place.node->clock.base_is_fixed = true;
    // Nobody reads before all of it is appended.
    place.lane->skip_to(put_off_.until(rank) - base, limits_);
    put_off_.take(rank, end, [&](ByRank::Number number, std::span<const wire::Event> events) {
      for (wire::Event event : events) {
        event.time -= base;
        if (take(node, place, rank, event)) begun.push_back({number, place.lane});
      }
      events_ += events.size();
    });
    note_first(*place.node, place.lane->first_);
    settle(*place.lane);
    keep_budget();
  }
  put_off_.drop_before(end);
  std::ranges::stable_sort(begun, {}, &Begun::with);
  for (const Begun& block : begun) block_order_.push_back(block.lane);
  keep_budget();
}

}  // namespace idlewave::timeline
