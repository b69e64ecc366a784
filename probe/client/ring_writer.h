#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "probe/client/run_sum.h"
#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::client {

/// An event as two words, which stay in registers until the ring has them. One that is made of its fields the compiler puts
/// together in memory, byte by byte, and to read such bytes as a word takes a processor as long as all that was before.
/// `value`: at most wire::kMaxEventValue.
inline wire::Event make_event(wire::Nanoseconds time, std::uint64_t value, wire::EventKind kind, wire::Phase phase) {
  struct {
    wire::Nanoseconds time;
    std::uint64_t word;
  } const words{time, value | static_cast<std::uint64_t>(kind) << 48 | static_cast<std::uint64_t>(phase) << 56};
  return std::bit_cast<wire::Event>(words);
}

/// The writing end of a ring. Never waits. Where more than 100,000 events come a second, or the ring fills, short
/// phases are told as sums (decision 26). An event that finds no room is counted, and the count goes in ahead of the first
/// event that finds room again. One thread.
class RingWriter {
 public:
  static constexpr std::int64_t kShortestGap = 10'000;  ///< ns, between events on average; shorter ones are summed.
  static constexpr std::uint32_t kSmallestRing =
      4096;  ///< Events; in a smaller one there is no room to tell sums in time.

  /// Goes on where the stream's positions stand. Stream and ring belong to the caller and outlive the writer's use.
  void attach(shm::Stream& stream, wire::Event* ring, std::uint32_t ring_events) {
    stream_ = &stream;
    ring_ = ring;
    mask_ = ring_events - 1;
    head_ = room_end_ = limit_ = looked_head_ = stream.head.load(std::memory_order_relaxed);
    dropped_ = 0;
    looked_ns_ = 0;
    is_summing_ = false;
    stream.dropped.store(0, std::memory_order_relaxed);
    sum_.attach(stream.run);
    sum_.stop();
  }

  /// `before`: the phase that went on until this event, which is told together with events lost ahead of it.
  /// False: the event was lost.
  bool push(wire::Event event, wire::Phase before) {
    if (head_ == room_end_) [[unlikely]]
      return push_slowly(event, before);
    store(event);
    return true;
  }

  /// The same of a switch with nothing else to say; its time.
  wire::Nanoseconds push_switch(wire::Nanoseconds time, wire::Phase phase, wire::Phase before) {
    if (head_ != room_end_) [[likely]] {
      store(make_event(time, 0, wire::EventKind::kSwitch, phase));
      return time;
    }
    if (!sum_.add_to_many(time, phase, before)) [[unlikely]]
      return push_switch_slowly(time, phase, before);
    ++events_since_;
    return time;
  }

  /// Where the next event goes, and one of the latest capacity() ones before it; those of a run stand there as a run's.
  std::uint64_t position() const { return head_; }
  std::uint64_t capacity() const { return mask_ + 1; }
  wire::Event told(std::uint64_t position) const { return ring_[position & mask_]; }

  /// The last event. The places kept for it make sure that neither it nor the count of lost events is lost.
  void push_last(wire::Event event, wire::Phase before);

 private:
  static constexpr std::uint64_t kReserved = 2;
  static constexpr std::int64_t kWindow = 10'000'000;  ///< ns; sums are not left sooner.

  void store(wire::Event event) {
    // Read once: the compiler takes the event for something that might change it.
    const std::uint64_t head = head_;
    ring_[head & mask_] = event;
    head_ = head + 1;
    stream_->head.store(head + 1, std::memory_order_release);
  }

  [[gnu::noinline]] bool push_slowly(wire::Event event, wire::Phase before);
  [[gnu::noinline]] bool push_most_slowly(wire::Event event, wire::Phase before);
  [[gnu::noinline]] wire::Nanoseconds push_switch_slowly(wire::Nanoseconds time, wire::Phase phase, wire::Phase before);
  bool tell(wire::Event event, wire::Phase before);
  void tell_run_before(const wire::Event& event);
  void tell_run();
  void tell_dropped(wire::Nanoseconds time, wire::Phase before);
  void lose(std::uint64_t events);
  std::uint64_t places_before(const wire::Event& event) const;
  bool find_room(std::uint64_t events, std::uint64_t reserved);
  void look_at_agent(std::uint64_t reserved);
  std::int64_t room() const { return static_cast<std::int64_t>(limit_ - head_); }
  bool is_filling() const { return room() < static_cast<std::int64_t>((mask_ + 1) / 4); }
  bool may_sum() const { return mask_ + 1 >= kSmallestRing; }
  std::uint64_t look_every() const { return may_sum() ? (mask_ + 1) / 16 : mask_ + 1; }
  void choose(wire::Nanoseconds now);
  void leave_sums_if_slow(wire::Nanoseconds now);
  void note_look(wire::Nanoseconds now);

  shm::Stream* stream_ = nullptr;
  wire::Event* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t room_end_ =
      0;                     ///< No event goes here before it was looked how fast they come, and how far the agent is.
  std::uint64_t limit_ = 0;  ///< No event goes here before the agent's position was looked at again.
  std::uint64_t dropped_ = 0;
  std::uint64_t looked_head_ = 0;   ///< Where it was looked last how fast events come.
  std::int64_t looked_ns_ = 0;      ///< When that was.
  std::uint64_t events_since_ = 0;  ///< While they are summed: how many have come since.
  bool is_summing_ = false;
  RunSum sum_;
};

}  // namespace idlewave::client
