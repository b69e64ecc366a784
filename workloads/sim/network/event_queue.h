#pragma once
// Events by time, and those of one time by their number.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "workloads/sim/network/radix_heap.h"

namespace idlewave::sim {

/// Events that are pushed in their order: a ring that grows.
class EventLane {
 public:
  bool is_empty() const { return begin_ == end_; }
  const NetworkEvent& front() const { return ring_[begin_ & mask_]; }
  const NetworkEvent& back() const { return ring_[(end_ - 1) & mask_]; }

  /// The n-th of what is in it, 0 the front; beyond the end: something that was in it, or nothing.
  const NetworkEvent& ahead(std::size_t n) const { return ring_[(begin_ + n) & mask_]; }

  void push(const NetworkEvent& event) {
    if (end_ - begin_ == ring_.size()) grow();
    ring_[end_++ & mask_] = event;
  }

  void pop() { ++begin_; }

 private:
  void grow() {
    std::vector<NetworkEvent> larger(2 * ring_.size());
    for (std::size_t i = 0; i < ring_.size(); ++i) larger[i] = ahead(i);
    begin_ = 0, end_ = ring_.size();
    ring_ = std::move(larger);
    mask_ = ring_.size() - 1;
  }

  std::vector<NetworkEvent> ring_ = std::vector<NetworkEvent>(64);
  std::size_t mask_ = 63;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// On a network most events come a constant time after the one that causes them, an overhead or a flight: those of like
/// delay come in order and stand in a lane. What does not fit behind the last one of its lane, and what comes much
/// later, is in a heap. push and pop: O(1) for the former.
class EventQueue {
 public:
  enum class Soon { kFar, kNear };

  EventQueue() { heads_.fill({kNever, 0, 0}); }

  bool empty() const { return size_ == 0; }

  void push(const NetworkEvent& event) {
    ++size_;
    const std::size_t which = lane_of(event.time - now_);
    if (which >= kLanes) return push_heap(event);
    EventLane& lane = lanes_[which];
    if (lane.is_empty())
      heads_[which] = event;
    else if (event < lane.back())
      return heap_.push(event);
    lane.push(event);
  }

  /// Whether, since the last one was taken out, an earlier one than that has come.
  bool is_overtaken() const { return overtaken_; }

  NetworkEvent pop() {
    return pop([](const NetworkEvent&, Soon) {});
  }

  /// The first one, taken out. Not for an empty queue. `expect(event, soon)` hears of some that are to come: first
  /// when they are far and again when they are near; now and then of one that has been or of NetworkEvent{}.
  template <class Expect>
  NetworkEvent pop(Expect&& expect) {
    --size_;
    const std::size_t which = first_lane();
    const NetworkEvent event = heap_.has_before(heads_[which]) ? pop_heap(expect) : pop_lane(which, expect);
    now_ = event.time;
    overtaken_ = false;
    return event;
  }

 private:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::size_t kFar = 4;  ///< So many others of the same lane or more come before it.
  static constexpr std::size_t kNear = 1;
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  /// 0 for less than 16 ns, then one for each factor of 4 up to 262 us.
  static std::size_t lane_of(std::int64_t delay) {
    const auto bits = std::size_t(std::bit_width(std::uint64_t(delay)));
    return bits < 5 ? 0 : (bits - 3) / 2;
  }

  void push_heap(const NetworkEvent& event) {
    overtaken_ |= event.time < now_;
    heap_.push(event);
  }

  std::size_t first_lane() const {
    return earlier(earlier(earlier(0, 1), earlier(2, 3)), earlier(earlier(4, 5), earlier(6, 7)));
  }
  std::size_t earlier(std::size_t a, std::size_t b) const { return heads_[b] < heads_[a] ? b : a; }

  template <class Expect>
  NetworkEvent pop_heap(Expect& expect) {
    const NetworkEvent event = heap_.pop();
    const auto coming = heap_.coming();
    if (heap_.begins_run())
      for (std::size_t n = 0; n < std::min(kFar, coming.size()); ++n) expect(coming[n], Soon::kFar);
    if (coming.size() > kFar) expect(coming[kFar], Soon::kFar);
    if (coming.size() > kNear) expect(coming[kNear], Soon::kNear);
    return event;
  }

  template <class Expect>
  NetworkEvent pop_lane(std::size_t which, Expect& expect) {
    EventLane& lane = lanes_[which];
    const NetworkEvent event = heads_[which];
    lane.pop();
    heads_[which] = lane.is_empty() ? NetworkEvent{kNever, 0, 0} : lane.front();
    expect(lane.ahead(kFar), Soon::kFar);
    expect(lane.ahead(kNear), Soon::kNear);
    return event;
  }

  std::size_t size_ = 0;
  bool overtaken_ = false;
  std::int64_t now_ = 0;                      ///< Of the last one that was taken out.
  std::array<NetworkEvent, kLanes> heads_{};  ///< Of the lanes, kNever for an empty one: side by side for the search.
  std::array<EventLane, kLanes> lanes_;
  RadixHeap heap_;
};

}  // namespace idlewave::sim
