#pragma once
// The events of one lane that the memory budget still allows, in blocks that are forgotten oldest first.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

using wire::Nanoseconds;

/// What a picture tells apart. kWait holds waiting and communicating (time inside MPI); kDelay holds delays and noise;
/// kOther is running outside any phase. What is missing to 1 is "no data".
enum class Category : std::uint8_t { kCompute = 0, kWait = 1, kDelay = 2, kOther = 3 };
inline constexpr int kCategories = 4;
/// Stands where a category's index could, for time of which nothing is known.
inline constexpr int kNoData = kCategories;

/// Nanoseconds by category; the last entry counts time without data.
using Times = std::array<std::int64_t, kCategories + 1>;

/// Index of the category of a phase that is none of the user's.
constexpr int category_of(wire::Phase basic) {
  switch (basic) {
    case wire::Phase::kCompute: return int(Category::kCompute);
    case wire::Phase::kWait:
    case wire::Phase::kCommunicate: return int(Category::kWait);
    case wire::Phase::kDelay:
    case wire::Phase::kNoise: return int(Category::kDelay);
    default: return int(Category::kOther);
  }
}

constexpr bool ends_lane(wire::EventKind kind) {
  return kind == wire::EventKind::kStop || kind == wire::EventKind::kLost;
}

/// By phase value, the phase of the vocabulary that it counts as.
using BasicPhases = std::array<wire::Phase, wire::kPhaseLimit>;

/// Events of a lane that follow one another.
struct EventBlock {
  /// So many events are gone through at most to say what was before a moment.
  static constexpr std::uint32_t kMarkEvery = 64;

  std::unique_ptr<wire::Event[]> events;
  std::unique_ptr<Times[]> marks;  ///< EventStore::push's `before` of every 64th event.
  std::uint32_t count = 0;
  std::uint32_t capacity = 0;

  static EventBlock of(std::uint32_t capacity);
  Nanoseconds begin() const { return events[0].time; }
  /// The last of those events that is at `time` or before; the first where there is none.
  std::uint32_t mark_at(Nanoseconds time) const;
  std::size_t bytes() const { return capacity * sizeof(wire::Event) + marks_in(capacity) * sizeof(Times); }
  static std::uint32_t marks_in(std::uint32_t events) { return (events + kMarkEvery - 1) / kMarkEvery; }
};

/// Blocks that were forgotten, to be filled again: those of thousands of lanes lie anywhere in memory, and to give each
/// back and ask for another costs more than all that is kept in them. Owned by Timeline.
class SpareBlocks {
 public:
  explicit SpareBlocks(std::uint64_t most_bytes) : most_bytes_(most_bytes) {}
  /// An empty one.
  EventBlock take(std::uint32_t capacity);
  void give(EventBlock block);

 private:
  std::uint64_t most_bytes_;
  std::vector<EventBlock> blocks_;  ///< All of one capacity.
};

/// Owned by a Lane. Events come in order of time; times are the lane's.
class EventStore {
 public:
  /// `before`: time in each category from the lane's first event to this one. A block that has to be begun holds
  /// `block_events`. Returns true if one was.
  bool push(const wire::Event& event, const Times& before, std::uint32_t block_events, SpareBlocks& spare);
  /// Nothing is known of [from, to): `to` is the time of the event that is pushed next, `from` not before the one that
  /// was pushed last.
  void add_hole(Nanoseconds from, Nanoseconds to);
  void forget_oldest_block(SpareBlocks& spare);

  bool empty() const { return head_ == blocks_.size(); }
  Nanoseconds from() const { return blocks_[head_].begin(); }  ///< Time of the oldest event; not if empty.
  std::size_t bytes() const {
    return bytes_ + blocks_.capacity() * sizeof(EventBlock) + (holes_ ? holes_->size() * sizeof(Hole) : 0);
  }

  /// Time in each category from the lane's first event to `time`, which is not before from(). What comes after the last
  /// event is left out.
  Times times_until(Nanoseconds time, const BasicPhases& basic) const;

  /// Number of events in [from, to). O(blocks there + log events).
  std::size_t count(Nanoseconds from, Nanoseconds to) const;

  /// Calls visit(begin, end, basic phase) for each phase between two events that is known to have overlapped [from, to),
  /// in order.
  template <class Visit>
  void for_each_phase(Nanoseconds from, Nanoseconds to, const BasicPhases& basic, Visit visit) const {
    for (std::size_t b = block_at(from); b < blocks_.size(); ++b) {
      if (blocks_[b].begin() >= to) return;
      for_each_phase_in(b, 0, from, to, basic, visit);
    }
  }

  /// Calls visit(event) for the events with from <= time < to, in order.
  template <class Visit>
  void for_each(Nanoseconds from, Nanoseconds to, Visit visit) const {
    for (std::size_t b = block_at(from); b < blocks_.size(); ++b)
      for (std::uint32_t i = 0; i < blocks_[b].count; ++i) {
        const wire::Event& event = blocks_[b].events[i];
        if (event.time >= to) return;
        if (event.time >= from) visit(event);
      }
  }

 private:
  /// The last block that begins before `time`, so that events at the very same time are not missed; the first one if
  /// there is none.
  std::size_t block_at(Nanoseconds time) const;
  const wire::Event* following(std::size_t block, std::uint32_t index) const {
    if (index + 1 < blocks_[block].count) return &blocks_[block].events[index + 1];
    return block + 1 < blocks_.size() ? &blocks_[block + 1].events[0] : nullptr;
  }
  /// Of events from `first` on.
  template <class Visit>
  void for_each_phase_in(std::size_t block, std::uint32_t first, Nanoseconds from, Nanoseconds to,
                         const BasicPhases& basic, Visit& visit) const;

  struct Hole {
    Nanoseconds from{};
    Nanoseconds to{};
  };
  /// Until when the phase that began at `from` is known to have lasted, where the next event is at `to`.
  Nanoseconds known_end(Nanoseconds from, Nanoseconds to) const;

  std::vector<EventBlock> blocks_;  ///< Forgotten ones stay as empty shells until they are half of all.
  std::size_t head_ = 0;
  /// Between kept events, oldest first. Few lanes have any, and a deque takes 600 bytes for nothing.
  std::unique_ptr<std::deque<Hole>> holes_;
  std::size_t bytes_ = 0;  ///< Of the events.
};

template <class Visit>
void EventStore::for_each_phase_in(std::size_t block, std::uint32_t first, Nanoseconds from, Nanoseconds to,
                                   const BasicPhases& basic, Visit& visit) const {
  for (std::uint32_t i = first; i < blocks_[block].count; ++i) {
    const wire::Event& event = blocks_[block].events[i];
    const wire::Event* next = following(block, i);
    if (next == nullptr || event.time >= to) return;
    if (next->time <= from || next->time == event.time || ends_lane(event.kind)) continue;
    const Nanoseconds known = !holes_ ? next->time : known_end(event.time, next->time);
    if (known > event.time && known > from) visit(event.time, known, basic[std::size_t(event.phase)]);
  }
}

}  // namespace idlewave::timeline
