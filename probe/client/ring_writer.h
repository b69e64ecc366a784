#pragma once

#include <atomic>
#include <bit>
#include <cstdint>

#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::client {

/// The writing end of one rank's ring. Never waits: an event that finds no room is counted, and the count goes in ahead
/// of the first event that finds room again. One thread.
class RingWriter {
 public:
  /// Goes on where the slot's positions stand. Slot and ring belong to the caller and outlive the writer's use.
  void attach(shm::Slot& slot, wire::Event* ring, std::uint32_t ring_events) {
    slot_ = &slot;
    ring_ = ring;
    mask_ = ring_events - 1;
    head_ = room_end_ = slot.head.load(std::memory_order_relaxed);
    dropped_ = 0;
    slot.dropped.store(0, std::memory_order_relaxed);
  }

  /// `before`: the phase that went on until this event, which is told together with events lost ahead of it.
  /// False: the event was lost.
  bool push(const wire::Event& event, wire::Phase before) {
    if (head_ == room_end_) [[unlikely]] {
      if (!find_room(event.time, before, kReserved)) return false;
    }
    store(event);
    return true;
  }

  /// The last event. The places kept for it make sure that neither it nor the count of lost events is lost.
  void push_last(const wire::Event& event, wire::Phase before) {
    if (find_room(event.time, before, 0)) store(event);
  }

 private:
  static constexpr std::uint64_t kReserved = 2;

  /// The same event as two words, which the compiler stores at once; fields of bits it would merge into what the ring
  /// held before.
  static wire::Event whole(const wire::Event& event) {
    struct {
      wire::Nanoseconds time;
      std::uint64_t word;
    } words{event.time,
            event.value | static_cast<std::uint64_t>(event.kind) << 48 | static_cast<std::uint64_t>(event.phase) << 56};
    return std::bit_cast<wire::Event>(words);
  }

  void store(const wire::Event& event) {
    ring_[head_ & mask_] = whole(event);
    slot_->head.store(++head_, std::memory_order_release);
  }

  /// Looks at the agent's position, which the fast path leaves alone, and tells what was lost. False if there is no
  /// room for that and an event.
  [[gnu::noinline, gnu::cold]] bool find_room(wire::Nanoseconds time, wire::Phase before, std::uint64_t reserved) {
    const std::uint64_t end = slot_->tail.load(std::memory_order_acquire) + mask_ + 1 - reserved;
    const std::int64_t needed = dropped_ > 0 ? 2 : 1;
    if (static_cast<std::int64_t>(end - head_) < needed) {
      slot_->dropped.store(++dropped_, std::memory_order_relaxed);
      room_end_ = head_;
      return false;
    }
    room_end_ = end;
    if (dropped_ > 0) tell_dropped(time, before);
    return true;
  }

  void tell_dropped(wire::Nanoseconds time, wire::Phase before) {
    store({time, dropped_ < wire::kMaxEventValue ? dropped_ : wire::kMaxEventValue, wire::EventKind::kDropped, before});
    dropped_ = 0;
    slot_->dropped.store(0, std::memory_order_release);
  }

  shm::Slot* slot_ = nullptr;
  wire::Event* ring_ = nullptr;
  std::uint64_t mask_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t room_end_ = 0;  ///< No event goes here before the agent's position was looked at again.
  std::uint64_t dropped_ = 0;
};

}  // namespace idlewave::client
