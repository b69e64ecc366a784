#include <algorithm>
#include <limits>

#include "monitor/timeline/timeline.h"

namespace idlewave::timeline {

/// Batches in the order in which they came, to be had rank by rank. Events are borrowed.
class Timeline::ByRank {
 public:
  using Number = std::uint32_t;  ///< In the order in which they came.

  /// `most` batches of so many ranks.
  ByRank(std::size_t ranks, std::size_t most) : chains_(ranks) { batches_.reserve(most); }

  void add(const std::string& node, Rank rank, std::span<const wire::Event> events) {
    const auto number = Number(batches_.size());
    Chain& chain = chains_[std::size_t(rank)];
    chain.node = &node;
    if (chain.first == kNone) ranks_.push_back(rank);
    (chain.first == kNone ? chain.first : batches_[chain.last].next) = number;
    chain.last = number;
    chain.until = events.back().time;
    batches_.push_back({events});
  }
  /// Node's clock, of the last event; min() where there is none.
  Nanoseconds until(Rank rank) const { return chains_[std::size_t(rank)].until; }
  const std::string& node(Rank rank) const { return *chains_[std::size_t(rank)].node; }
  /// Those of which there is something.
  const std::vector<Rank>& ranks() const { return ranks_; }
  /// Calls visit(number, events) for each batch of a rank, in order.
  template <class Visit>
  void for_each(Rank rank, Visit visit) const {
    for (Number number = chains_[std::size_t(rank)].first; number != kNone; number = batches_[number].next) {
      const Batch& batch = batches_[number];
      prefetch_behind(batch);
      visit(number, batch.events);
    }
  }
  void clear() {
    for (const Rank rank : ranks_) chains_[std::size_t(rank)] = {};
    ranks_.clear(), batches_.clear();
  }

 private:
  static constexpr Number kNone = std::numeric_limits<Number>::max();
  struct Batch {
    std::span<const wire::Event> events;
    Number next = kNone;  ///< Of the same rank.
  };
  /// Of a frame that names its ranks in order, the next rank's.
  static void prefetch_behind(const Batch& batch) {
    constexpr std::size_t kEventsALine = 64 / sizeof(wire::Event);
    __builtin_prefetch(batch.events.data() + batch.events.size() + kEventsALine);
    __builtin_prefetch(&batch + 3);
  }
  struct Chain {
    Number first = kNone, last = kNone;
    Nanoseconds until = Nanoseconds::min();
    const std::string* node = nullptr;
  };
  std::vector<Chain> chains_;  ///< By rank.
  std::vector<Batch> batches_;
  std::vector<Rank> ranks_;
};

void Timeline::append(std::span<const NodeEvents> frames) {
  std::size_t batches = 0;
  for (const NodeEvents& frame : frames) batches += frame.lanes.size();
  if (batches < places_.size()) return append_one_by_one(frames);
  ByRank put_off(places_.size(), batches);
  for (const NodeEvents& frame : frames) {
    const auto found = nodes_.find(frame.node);
    for (const LaneEvents& told : frame.lanes) {
      if (told.events.empty()) continue;
      if (found != nodes_.end() && only_goes_on(found->second, told, put_off)) {
        put_off.add(frame.node, told.lane.index, told.events);
        continue;
      }
      if (told.lane.kind == wire::LaneId::Kind::kRank) append(put_off);
      append(frame.node, told.lane, told.events);
    }
  }
  append(put_off);
}

void Timeline::append_one_by_one(std::span<const NodeEvents> frames) {
  for (const NodeEvents& frame : frames)
    for (const LaneEvents& told : frame.lanes) append(frame.node, told.lane, told.events);
}

/// Nothing comes of these events but the history of their rank: whatever is told of other ranks meanwhile, it is the same.
bool Timeline::only_goes_on(const Node& node, const LaneEvents& told, const ByRank& before) const {
  const auto rank = std::size_t(told.lane.index);
  if (!has_origin_ || told.lane.kind != wire::LaneId::Kind::kRank || told.lane.index < 0) return false;
  if (rank >= places_.size() || places_[rank].node != &node) return false;
  const RankPlace& place = places_[rank];
  if (!place.lane->history_) return false;  // There may be no room for it.
  Nanoseconds last = before.until(told.lane.index);
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

/// And forgets them. Blocks are forgotten in the order in which they would have been begun otherwise.
void Timeline::append(ByRank& batches) {
  struct Begun {
    ByRank::Number with;
    Lane* lane;
  };
  std::vector<Begun> begun;
  for (const Rank rank : batches.ranks()) {
    RankPlace& place = places_[std::size_t(rank)];
    const Nanoseconds base = place.node->clock.base;
    place.node->clock.base_is_fixed = true;
    place.lane->skip_to(batches.until(rank) - base, limits_);
    batches.for_each(rank, [&](ByRank::Number number, std::span<const wire::Event> events) {
      for (wire::Event event : events) {
        event.time -= base;
        if (take(batches.node(rank), place, rank, event)) begun.push_back({number, place.lane});
      }
      events_ += events.size();
    });
    note_first(*place.node, place.lane->first_);
    settle(*place.lane);
    keep_budget();
  }
  std::ranges::stable_sort(begun, {}, &Begun::with);
  for (const Begun& block : begun) block_order_.push_back(block.lane);
  keep_budget();
  batches.clear();
}

}  // namespace idlewave::timeline
