#include "monitor/timeline/event_store.h"

#include <algorithm>
#include <utility>

namespace idlewave::timeline {

EventBlock EventBlock::of(std::uint32_t capacity) {
  return {std::make_unique_for_overwrite<wire::Event[]>(capacity),
          std::make_unique_for_overwrite<Times[]>(marks_in(capacity)), 0, capacity};
}

std::uint32_t EventBlock::mark_at(Nanoseconds time) const {
  std::uint32_t mark = marks_in(count) - 1;
  while (mark > 0 && events[mark * kMarkEvery].time > time) --mark;
  return mark;
}

EventBlock SpareBlocks::take(std::uint32_t capacity) {
  if (!blocks_.empty() && blocks_.back().capacity != capacity) blocks_.clear();
  if (blocks_.empty()) return EventBlock::of(capacity);
  EventBlock block = std::move(blocks_.back());
  blocks_.pop_back();
  block.count = 0;
  return block;
}

void SpareBlocks::give(EventBlock block) {
  if (!blocks_.empty() && blocks_.back().capacity != block.capacity) return;
  if ((blocks_.size() + 1) * block.bytes() <= most_bytes_) blocks_.push_back(std::move(block));
}

bool EventStore::push(const wire::Event& event, const Times& before, std::uint32_t block_events, SpareBlocks& spare) {
  const bool full = empty() || blocks_.back().count == blocks_.back().capacity;
  if (full) {
    blocks_.push_back(spare.take(block_events));
    bytes_ += blocks_.back().bytes();
  }
  EventBlock& block = blocks_.back();
  if (block.count % EventBlock::kMarkEvery == 0) block.marks[block.count / EventBlock::kMarkEvery] = before;
  block.events[block.count++] = event;
  return full;
}

void EventStore::add_hole(Nanoseconds from, Nanoseconds to) {
  if (empty() || from >= to) return;
  if (!holes_) holes_ = std::make_unique<std::deque<Hole>>();
  holes_->push_back({from, to});
}

void EventStore::forget_oldest_block(SpareBlocks& spare) {
  EventBlock& oldest = blocks_[head_++];
  bytes_ -= oldest.bytes();
  spare.give(std::exchange(oldest, {}));
  while (holes_ && !holes_->empty() && (empty() || holes_->front().to <= from())) holes_->pop_front();
  if (head_ * 2 < blocks_.size()) return;
  blocks_.erase(blocks_.begin(), blocks_.begin() + std::ptrdiff_t(head_));
  head_ = 0;
}

std::size_t EventStore::block_at(Nanoseconds time) const {
  const auto begin = blocks_.begin() + std::ptrdiff_t(head_);
  const auto after =
      std::partition_point(begin, blocks_.end(), [&](const EventBlock& block) { return block.begin() < time; });
  return head_ + std::size_t(after == begin ? 0 : after - begin - 1);
}

Nanoseconds EventStore::known_end(Nanoseconds from, Nanoseconds to) const {
  const auto hole =
      std::partition_point(holes_->begin(), holes_->end(), [&](const Hole& each) { return each.to < to; });
  return hole != holes_->end() && hole->to == to && hole->from >= from ? hole->from : to;
}

Times EventStore::times_until(Nanoseconds time, const BasicPhases& basic) const {
  const std::size_t b = block_at(time);
  const std::uint32_t mark = blocks_[b].mark_at(time);
  Times times = blocks_[b].marks[mark];
  auto add = [&](Nanoseconds begin, Nanoseconds end, wire::Phase phase) {
    times[std::size_t(category_of(phase))] += (std::min(end, time) - begin).count();
  };
  for_each_phase_in(b, mark * EventBlock::kMarkEvery, Nanoseconds::min(), time, basic, add);
  return times;
}

std::size_t EventStore::count(Nanoseconds from, Nanoseconds to) const {
  const auto before = [&](const EventBlock& block, Nanoseconds time) {
    const wire::Event* const first = block.events.get();
    return std::size_t(std::partition_point(first, first + block.count, [&](const auto& e) { return e.time < time; }) -
                       first);
  };
  std::size_t count = 0;
  for (std::size_t b = block_at(from); b < blocks_.size() && blocks_[b].begin() < to; ++b)
    count += before(blocks_[b], to) - before(blocks_[b], from);
  return count;
}

}  // namespace idlewave::timeline
