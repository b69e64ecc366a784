#pragma once
// Events by time, and those of one time by their number.

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace idlewave::sim {

struct NetworkEvent {
  std::int64_t time = 0;
  std::uint32_t number = 0;  ///< No two events in a queue have the same.
  std::uint32_t what = 0;    ///< For the queue's owner.

  friend bool operator<(const NetworkEvent& a, const NetworkEvent& b) { return a.key() < b.key(); }

 private:
  /// One number, since the comparison of two cannot be foretold and costs a branch.
  __extension__ using Key = __int128;
  Key key() const { return Key{time} * (Key{1} << 64) + number; }
};

/// A radix heap (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster algorithms for the shortest path problem", J. ACM 37, 1990)
/// for what is far away, above a sorted run and a small binary heap for what is near. Unlike a radix heap it takes
/// events that lie before the last one that was taken out. push and pop: amortised O(log(time span)), in practice a few
/// moves of 16 bytes. Allocates until its buckets have grown.
class RadixHeap {
 public:
  void push(NetworkEvent event) {
    if (event.time <= near_end_) {
      late_.push_back(event);
      std::push_heap(late_.begin(), late_.end(), follows);
    } else {
      far_from_ = std::min(far_from_, event.time);
      put_far(event);
    }
  }

  /// Whether an event comes before `limit`. Looks no farther than that needs.
  bool has_before(const NetworkEvent& limit) {
    if (is_near_empty()) {
      if (far_from_ > limit.time || filled_ == 0) return false;
      refill();
    }
    return first() < limit;
  }

  /// The first one, taken out. Only after has_before.
  NetworkEvent pop() {
    if (is_first_in_run()) return run_[run_next_++];
    std::pop_heap(late_.begin(), late_.end(), follows);
    const NetworkEvent event = late_.back();
    late_.pop_back();
    return event;
  }

  /// Whether the one that was just taken out is the first of those that `coming` tells of.
  bool begins_run() const { return run_next_ == 1; }

  /// What is known of those that come then.
  std::span<const NetworkEvent> coming() const { return std::span(run_).subspan(run_next_); }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t kSmall = 64;  ///< As many are sorted at once rather than spread over buckets.

  static bool follows(const NetworkEvent& a, const NetworkEvent& b) { return b < a; }

  bool is_near_empty() const { return run_next_ == run_.size() && late_.empty(); }

  bool is_first_in_run() const { return late_.empty() || (run_next_ < run_.size() && run_[run_next_] < late_.front()); }

  const NetworkEvent& first() const { return is_first_in_run() ? run_[run_next_] : late_.front(); }

  void put_far(const NetworkEvent& event) {
    const std::size_t bucket = bucket_of(event.time);
    far_[bucket].push_back(event);
    filled_ |= std::uint64_t{1} << bucket;
  }

  /// By the highest bit in which `time` differs from near_end_; only for times after it.
  std::size_t bucket_of(std::int64_t time) const {
    return std::size_t(63 - std::countl_zero(std::uint64_t(time ^ near_end_)));
  }

  void refill() {
    run_.clear();
    run_next_ = 0;
    while (run_.empty()) {
      auto& bucket = far_[std::size_t(std::countr_zero(filled_))];
      filled_ &= filled_ - 1;
      bucket.size() <= kSmall ? take(bucket) : spread(bucket);
    }
    if (!std::is_sorted(run_.begin(), run_.end())) std::sort(run_.begin(), run_.end());
    const int first = std::countr_zero(filled_);
    far_from_ = filled_ == 0 ? kNever : ((near_end_ >> first) | 1) << first;
  }

  /// near_end_ stays within the bucket's span: higher buckets remain right.
  void take(std::vector<NetworkEvent>& bucket) {
    run_.swap(bucket);
    for (const NetworkEvent& event : run_) near_end_ = std::max(near_end_, event.time);
  }

  void spread(std::vector<NetworkEvent>& bucket) {
    near_end_ = std::min_element(bucket.begin(), bucket.end(), [](auto& a, auto& b) { return a.time < b.time; })->time;
    for (const NetworkEvent& event : bucket) event.time == near_end_ ? run_.push_back(event) : put_far(event);
    bucket.clear();
  }

  std::int64_t near_end_ = 0;       ///< The last time that is near; all in far_ comes after it.
  std::int64_t far_from_ = kNever;  ///< None in far_ comes before.
  std::uint64_t filled_ = 0;        ///< The bits of those in far_ that are not empty.
  std::size_t run_next_ = 0;
  std::vector<NetworkEvent> run_;   ///< Ascending.
  std::vector<NetworkEvent> late_;  ///< Near, but came when run_ had been filled: a binary heap.
  std::array<std::vector<NetworkEvent>, 63> far_;
};

}  // namespace idlewave::sim
