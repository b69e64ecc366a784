#pragma once
// Events by time, and those of one time by their number.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace idlewave::sim {

struct NetworkEvent {
  std::int64_t time = 0;
  std::uint32_t number = 0;  ///< No two events in a queue have the same.
  std::uint32_t what = 0;    ///< For the queue's owner.

  friend bool operator<(const NetworkEvent& a, const NetworkEvent& b) {
    return (a.time < b.time) | ((a.time == b.time) & (a.number < b.number));
  }
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster algorithms for the shortest path problem", J. ACM 37, 1990)
/// for what is far away, above a sorted run and a small binary heap for what is near. Unlike a radix heap it takes
/// events that lie before the last one that was taken out. push and pop: amortised O(log(time span)), in practice a few
/// moves of 16 bytes. Allocates until its buckets have grown.
class EventQueue {
 public:
  bool empty() const { return size_ == 0; }

  void push(NetworkEvent event) {
    ++size_;
    if (event.time <= near_end_) {
      late_.push_back(event);
      std::push_heap(late_.begin(), late_.end(), follows);
    } else {
      far_[bucket_of(event.time)].push_back(event);
    }
  }

  /// The first one, taken out. Not for an empty queue.
  NetworkEvent pop() {
    --size_;
    if (run_next_ == run_.size() && late_.empty()) refill();
    if (late_.empty() || (run_next_ < run_.size() && run_[run_next_] < late_.front())) return run_[run_next_++];
    std::pop_heap(late_.begin(), late_.end(), follows);
    const NetworkEvent event = late_.back();
    late_.pop_back();
    return event;
  }

 private:
  static constexpr std::size_t kSmall = 64;  ///< As many are sorted at once rather than spread over buckets.

  static bool follows(const NetworkEvent& a, const NetworkEvent& b) { return b < a; }

  /// By the highest bit in which `time` differs from near_end_; only for times after it.
  std::size_t bucket_of(std::int64_t time) const {
    return std::size_t(63 - std::countl_zero(std::uint64_t(time ^ near_end_)));
  }

  void refill() {
    run_.clear();
    run_next_ = 0;
    while (run_.empty()) {
      auto& bucket = *std::find_if(far_.begin(), far_.end(), [](const auto& b) { return !b.empty(); });
      bucket.size() <= kSmall ? take(bucket) : spread(bucket);
    }
    if (!std::is_sorted(run_.begin(), run_.end())) std::sort(run_.begin(), run_.end());
  }

  /// near_end_ stays within the bucket's span: higher buckets remain right.
  void take(std::vector<NetworkEvent>& bucket) {
    run_.swap(bucket);
    for (const NetworkEvent& event : run_) near_end_ = std::max(near_end_, event.time);
  }

  void spread(std::vector<NetworkEvent>& bucket) {
    near_end_ = std::min_element(bucket.begin(), bucket.end(), [](auto& a, auto& b) { return a.time < b.time; })->time;
    for (const NetworkEvent& event : bucket)
      (event.time == near_end_ ? run_ : far_[bucket_of(event.time)]).push_back(event);
    bucket.clear();
  }

  std::int64_t near_end_ = 0;  ///< The last time that is near; all in far_ comes after it.
  std::size_t size_ = 0;
  std::size_t run_next_ = 0;
  std::vector<NetworkEvent> run_;   ///< Ascending.
  std::vector<NetworkEvent> late_;  ///< Near, but came when run_ had been filled: a binary heap.
  std::array<std::vector<NetworkEvent>, 63> far_;
};

}  // namespace idlewave::sim
