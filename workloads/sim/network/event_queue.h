#pragma once
// Events by time, and those of one time by their number.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "workloads/sim/network/calendar.h"
#include "workloads/sim/network/event_heap.h"
#include "workloads/sim/network/network_event.h"

namespace idlewave::sim::network {

/// A calendar queue (Brown: "Calendar queues: a fast O(1) priority queue implementation for the simulation event set
/// problem", CACM 31, 1988): spans of time, of which the first that is not empty is sorted when its turn comes. They
/// become longer or shorter with what comes. What comes within the present span, or before it, and what lies beyond the
/// calendar, is in heaps. push and pop: O(1) for all but those. Memory: 18 bytes an event and 128 for each of up to
/// 4096 spans.
class EventQueue {
 public:
  enum class Soon { kFar, kNear };

  bool empty() const { return next_ == end_ && late_.empty() && calendar_.size() == 0 && far_.empty(); }

  void push(const NetworkEvent& event) {
    const std::int64_t ahead = calendar_.ahead(event.time);
    if (ahead <= 0)
      push_late(event);
    else if (ahead < Calendar::kSpans)
      calendar_.put(event);
    else
      far_.push(event);
  }

  /// Whether, since the last one was taken out, an earlier one than that has come.
  bool is_overtaken() const { return overtaken_; }

  NetworkEvent pop() {
    return pop([](const NetworkEvent&, Soon) {});
  }

  /// The first one, taken out. Not for an empty queue. `expect(event, soon)` hears of most that are to come: first
  /// when they are far and again when they are near.
  template <class Expect>
  NetworkEvent pop(Expect&& expect) {
    if (next_ == end_ && late_.empty()) {
      open_next();
      for (std::size_t n = 0; n <= kNear; ++n) expect(sorted_[n], Soon::kNear);
    }
    const NetworkEvent event = is_late_first() ? pop_late() : pop_sorted(expect);
    now_ = event.time;
    overtaken_ = false;
    return event;
  }

 private:
  static constexpr std::size_t kFar = 4;  ///< So many others come before it, or more.
  static constexpr std::size_t kNear = 2;
  static constexpr std::size_t kFew = 4;  ///< Events of a span: it may be made longer, or shorter.
  static constexpr std::size_t kMany = 16;
  static constexpr int kLongestBits = 31;  ///< Of spans: two seconds.

  void push_late(const NetworkEvent& event) {
    overtaken_ |= event.time < now_;
    late_.push(event);
  }

  bool is_late_first() const { return !late_.empty() && (next_ == end_ || late_.first() < sorted_[next_]); }

  NetworkEvent pop_late() {
    ++seen_.events, ++seen_.late;
    return late_.pop();
  }

  template <class Expect>
  NetworkEvent pop_sorted(Expect& expect) {
    const NetworkEvent event = sorted_[next_++];
    expect(sorted_[next_ + kFar], Soon::kFar);
    expect(sorted_[next_ + kNear], Soon::kNear);
    return event;
  }

  void open_next() {
    ++seen_.spans;
    seen_.events += end_;
    if ((seen_.spans >= 512 || seen_.events >= 16384) && 4 * seen_.events >= calendar_.size()) adapt();
    if (calendar_.size() == 0) calendar_.go_to(far_.first().time);
    while (!far_.empty() && calendar_.ahead(far_.first().time) < Calendar::kSpans) calendar_.put(far_.pop());
    sorted_.clear();
    next_ = 0;
    calendar_.take_first(sorted_);
    end_ = sorted_.size();
    sort();
    show_coming();
  }

  /// After those of the span, so that there is always another one to expect.
  void show_coming() {
    const auto coming = calendar_.coming();
    sorted_.insert(sorted_.end(), coming.begin(), coming.end());
    sorted_.resize(std::max(sorted_.size(), end_ + kFar + 1), sorted_.back());
  }

  /// Short spans, so that little comes late of what there is much of; long ones, so that little is far.
  void adapt() {
    const std::size_t mean = seen_.events / seen_.spans;
    const bool too_long = mean > kMany && seen_.late > seen_.events / 8;
    const bool too_short = mean < kFew || far_.size() > calendar_.size();
    seen_ = {};
    const int bits = calendar_.bits() + (too_long ? -1 : int(too_short));
    if (bits == calendar_.bits() || bits < 0 || bits > kLongestBits) return;
    calendar_.change_spans(bits, [this](const NetworkEvent& event) { far_.push(event); });
  }

  /// They come nearly in order of their numbers, and many in parts of the span at first.
  void sort() {
    if (sorted_.size() > kMany && !is_sorted()) sort_by_parts();
    std::size_t moves = 0;
    std::uint64_t last = key_of(sorted_.front());
    for (std::size_t i = 1; i < sorted_.size(); ++i) {
      const std::uint64_t key = key_of(sorted_[i]);
      if (key > last) {
        last = key;
        continue;
      }
      const NetworkEvent event = sorted_[i];
      std::size_t place = i;
      for (; place > 0 && key < key_of(sorted_[place - 1]); --place) sorted_[place] = sorted_[place - 1];
      sorted_[place] = event;
      moves += i - place;
      if (moves > kMany * sorted_.size()) return std::sort(sorted_.begin(), sorted_.end());
    }
  }

  bool is_sorted() const { return std::ranges::is_sorted(sorted_, {}, key_of); }

  /// Orders events of one span, which is no longer than 2^32 ns and begins at a multiple of its length.
  static std::uint64_t key_of(const NetworkEvent& event) { return std::uint64_t(event.time) << 32 | event.number; }

  void sort_by_parts() {
    constexpr int kPartBits = 8;
    const int bits = std::min({kPartBits, calendar_.bits(), int(std::bit_width(sorted_.size()))});
    const int shift = calendar_.bits() - bits;
    const auto part_of = [shift, mask = (std::size_t(1) << bits) - 1](const NetworkEvent& event) {
      return std::size_t(event.time >> shift) & mask;
    };
    std::array<std::uint32_t, (1 << kPartBits) + 1> begins;
    std::fill_n(begins.begin(), (1 << bits) + 1, 0);
    for (const NetworkEvent& event : sorted_) ++begins[part_of(event) + 1];
    for (std::size_t part = 1; part < std::size_t(1) << bits; ++part) begins[part] += begins[part - 1];
    parts_.resize(sorted_.size());
    for (const NetworkEvent& event : sorted_) parts_[begins[part_of(event)]++] = event;
    sorted_.swap(parts_);
  }

  /// Since the last look at the length of spans.
  struct Seen {
    std::size_t spans = 0;
    std::size_t events = 0;
    std::size_t late = 0;
  };

  bool overtaken_ = false;
  std::int64_t now_ = 0;              ///< Of the last one that was taken out.
  std::vector<NetworkEvent> sorted_;  ///< Of the present span, those before next_ taken out; from end_ on some later.
  std::size_t next_ = 0;
  std::size_t end_ = 0;
  EventHeap late_;  ///< That came when their span was the present one, or over.
  EventHeap far_;   ///< Beyond the calendar.
  Calendar calendar_;
  Seen seen_;
  std::vector<NetworkEvent> parts_;
};

}  // namespace idlewave::sim::network
