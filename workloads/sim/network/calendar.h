#pragma once
// Events by spans of time: the ring of a calendar queue.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/sim/network/network_event.h"

namespace idlewave::sim::network {

/// A bucket for each of the kSpans spans after the present one, which are of 2^bits ns; in a bucket in the order in
/// which they came, in chunks of two cache lines that all buckets share. put: O(1). take_first: O(1) an event, and a
/// look at up to kSpans bits.
class Calendar {
 public:
  static constexpr std::int64_t kSpans = 4096;

  Calendar() { buckets_.fill(kNone); }

  std::size_t size() const { return size_; }
  int bits() const { return bits_; }
  std::int64_t begin() const { return present_ << bits_; }  ///< Of the present span.

  /// How many spans after the present one; below 1: not after it.
  std::int64_t ahead(std::int64_t time) const { return span_of(time) - present_; }

  /// Only if it is less than kSpans ahead, and at least 1.
  void put(const NetworkEvent& event) {
    const std::size_t bucket = bucket_of(span_of(event.time));
    std::uint32_t& last = buckets_[bucket];
    if (last == kNone || chunks_[last].count == chunks_[last].events.size()) {
      last = new_chunk(last);
      filled_[bucket / 64] |= std::uint64_t{1} << (bucket % 64);
    }
    Chunk& chunk = chunks_[last];
    chunk.events[chunk.count++] = event;
    ++size_;
  }

  /// Those of the first span in which there are any, which is the present one from then on. Not if it is empty.
  void take_first(std::vector<NetworkEvent>& events) {
    present_ = first_filled();
    take(bucket_of(present_), events);
    coming_ = size_ > 0 ? buckets_[bucket_of(first_filled())] : kNone;
  }

  /// Some of those of the span that comes next.
  std::span<const NetworkEvent> coming() const {
    if (coming_ == kNone) return {};
    return {chunks_[coming_].events.data(), chunks_[coming_].count};
  }

  /// Skips what is before the span of `time`. Only if it is empty.
  void go_to(std::int64_t time) { present_ = span_of(time) - 1; }

  /// With spans of another length; what is too far ahead for them goes to `rest`.
  template <class Rest>
  void change_spans(int bits, Rest&& rest) {
    std::vector<NetworkEvent> all;
    for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket)
      if (buckets_[bucket] != kNone) take(bucket, all);
    const std::int64_t after = (present_ + 1) << bits_;
    bits_ = bits;
    go_to(after);
    for (const NetworkEvent& event : all) ahead(event.time) < kSpans ? put(event) : rest(event);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct alignas(64) Chunk {
    std::uint32_t before = kNone;  ///< The chunk before it in its bucket, or behind it of those that are free.
    std::uint32_t count = 0;
    std::array<NetworkEvent, 7> events;
  };
  static_assert(sizeof(Chunk) == 128);

  std::int64_t span_of(std::int64_t time) const { return time >> bits_; }
  static std::size_t bucket_of(std::int64_t span) { return std::size_t(span & (kSpans - 1)); }

  std::uint32_t new_chunk(std::uint32_t before) {
    std::uint32_t chunk = free_;
    if (chunk == kNone) {
      chunk = std::uint32_t(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_ = chunks_[chunk].before;
    }
    chunks_[chunk].before = before;
    chunks_[chunk].count = 0;
    return chunk;
  }

  std::int64_t first_filled() const {
    const std::size_t start = bucket_of(present_ + 1);
    std::size_t word = start / 64;
    std::uint64_t bits = filled_[word] & (~std::uint64_t{0} << (start % 64));
    while (bits == 0) {
      word = (word + 1) % filled_.size();
      bits = filled_[word];
    }
    const std::size_t bucket = word * 64 + std::size_t(std::countr_zero(bits));
    return present_ + 1 + std::int64_t((bucket - start) & std::size_t(kSpans - 1));
  }

  void take(std::size_t bucket, std::vector<NetworkEvent>& events) {
    in_order_.clear();
    for (std::uint32_t chunk = buckets_[bucket]; chunk != kNone; chunk = chunks_[chunk].before)
      in_order_.push_back(chunk);
    std::reverse(in_order_.begin(), in_order_.end());
    for (const std::uint32_t i : in_order_) {
      Chunk& chunk = chunks_[i];
      events.insert(events.end(), chunk.events.begin(), chunk.events.begin() + chunk.count);
      size_ -= chunk.count;
      chunk.before = free_;
      free_ = i;
    }
    buckets_[bucket] = kNone;
    filled_[bucket / 64] &= ~(std::uint64_t{1} << (bucket % 64));
  }

  int bits_ = 8;               ///< To begin with: shorter than what most programs take for a message.
  std::int64_t present_ = -1;  ///< The span that was taken last, or before the first.
  std::size_t size_ = 0;
  std::array<std::uint32_t, std::size_t(kSpans)> buckets_;  ///< The last chunk of each.
  std::array<std::uint64_t, std::size_t(kSpans) / 64> filled_{};
  std::uint32_t coming_ = kNone;
  std::uint32_t free_ = kNone;
  std::vector<Chunk> chunks_;
  std::vector<std::uint32_t> in_order_;
};

}  // namespace idlewave::sim::network
