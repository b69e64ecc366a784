#pragma once
// Messages on their way to a rank, or waiting for its processor, of a program of collectives.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::sim::network {

inline constexpr int kNoLane = -1;

/// Times here are whole nanoseconds, counted in 32nds, so that a lane has room beside them.
inline constexpr std::int64_t kTicks = 32;  ///< Of a nanosecond.
constexpr std::int64_t whole(std::int64_t ticks) { return ticks & -kTicks; }

/// When its first byte is there, and through which of the receiver's lanes it comes: one number, since a rank has many.
class WaitingMessage {
 public:
  WaitingMessage() = default;
  WaitingMessage(std::int64_t arrival, int lane) : packed_(arrival | lane) {}  ///< arrival: ticks; lane: 0 to 31.
  static WaitingMessage never() { return {whole(std::numeric_limits<std::int64_t>::max()), 0}; }  ///< After all others.
  std::int64_t arrival() const { return whole(packed_); }
  int lane() const { return int(packed_ & (kTicks - 1)); }

  /// The later of its arrival and another moment.
  std::int64_t not_before(std::int64_t time) const { return whole(std::max(packed_, time)); }
  bool is_after(std::int64_t time) const { return packed_ >= time + kTicks; }

  /// Without asking who sent them.
  bool is_earlier(const WaitingMessage& other) const { return packed_ < whole(other.packed_); }
  bool is_tied(const WaitingMessage& other) const { return arrival() == other.arrival(); }

  /// Those of one moment in the order of who sent them; `sender(lane)`.
  template <class Sender>
  bool is_before(const WaitingMessage& other, Sender sender) const {
    if (arrival() != other.arrival()) return packed_ < other.packed_;
    return lane() != other.lane() && sender(lane()) < sender(other.lane());
  }

  /// Without a branch, which nobody could foretell.
  static void put_later_first(WaitingMessage& a, WaitingMessage& b) {
    const std::int64_t swapped = (a.packed_ ^ b.packed_) & -std::int64_t{a.is_earlier(b)};
    a.packed_ ^= swapped;
    b.packed_ ^= swapped;
  }

 private:
  std::int64_t packed_ = 0;
};

/// The same with a number by which those of one moment are ordered.
class NumberedMessage {
 public:
  NumberedMessage() = default;
  NumberedMessage(std::int64_t arrival, int lane, std::int64_t number)
      : arrival_(arrival), number_(number), lane_(lane) {}
  static NumberedMessage never() { return {std::numeric_limits<std::int64_t>::max(), 0, 0}; }  ///< After all others.
  std::int64_t arrival() const { return arrival_; }
  std::int64_t number() const { return number_; }
  int lane() const { return lane_; }
  std::int64_t not_before(std::int64_t time) const { return std::max(arrival_, time); }
  bool is_after(std::int64_t time) const { return arrival_ > time; }

  bool is_earlier(const NumberedMessage& other) const {
    return arrival_ != other.arrival_ ? arrival_ < other.arrival_ : number_ < other.number_;
  }
  bool is_tied(const NumberedMessage&) const { return false; }

  template <class Sender>
  bool is_before(const NumberedMessage& other, Sender) const {
    return is_earlier(other);
  }

  static void put_later_first(NumberedMessage& a, NumberedMessage& b) {
    if (a.is_earlier(b)) std::swap(a, b);
  }

 private:
  std::int64_t arrival_ = 0;
  std::int64_t number_ = 0;
  int lane_ = 0;
};

/// For ranks that have more messages than they have room for. Shared by all ranks of a run.
template <class Message>
class MessageOverflow {
 public:
  using Heap = std::vector<Message>;

  std::uint32_t take_heap() {
    if (free_.empty()) {
      heaps_.emplace_back();
      return std::uint32_t(heaps_.size() - 1);
    }
    const std::uint32_t heap = free_.back();
    free_.pop_back();
    return heap;
  }
  void give_back(std::uint32_t heap) { free_.push_back(heap); }
  Heap& operator[](std::uint32_t heap) { return heaps_[heap]; }
  const Heap& operator[](std::uint32_t heap) const { return heaps_[heap]; }

 private:
  std::vector<Heap> heaps_;
  std::vector<std::uint32_t> free_;
};

/// Of one rank, the first at hand. Up to six stand in here, the last one first; more in a heap, until that is empty.
template <class Message>
class WaitingMessages {
 public:
  using Overflow = MessageOverflow<Message>;

  bool empty() const { return count_ == 0; }

  Message first() const { return messages_[count_]; }  ///< Message::never() if there is none.

  /// No message through `lane` arrives before; kNever: there is none.
  std::int64_t first_arrival(int lane) const {
    if (in_heap_) return first().arrival();
    for (std::size_t i = count_; i > 0; --i)
      if (messages_[i].lane() == lane) return messages_[i].arrival();
    return std::numeric_limits<std::int64_t>::max();
  }

  template <class Sender>
  void add(Message message, Overflow& overflow, Sender sender) {
    if (count_ == kMost) return add_to_heap(message, overflow, sender);
    const std::size_t place = count_++;
    const Message first = messages_[place];
    messages_[place + 1] = message;
    Message::put_later_first(messages_[place], messages_[place + 1]);
    if (first.is_tied(message)) return settle(place + 1, message, sender);
    if (place > 1 && !message.is_earlier(messages_[place - 1])) settle(place, message, sender);
  }

  /// The first, out of it.
  template <class Sender>
  Message take(Overflow& overflow, Sender sender) {
    if (in_heap_) return take_from_heap(overflow, sender);
    return messages_[count_--];
  }

 private:
  static constexpr std::uint8_t kMost = 6;

  /// From `place` to where it belongs.
  template <class Sender>
  [[gnu::noinline]] void settle(std::size_t place, Message message, Sender sender) {
    for (; messages_[place - 1].is_before(message, sender); --place) messages_[place] = messages_[place - 1];
    messages_[place] = message;
  }

  template <class Sender>
  static auto follows(Sender sender) {
    return [sender](const Message& a, const Message& b) { return b.is_before(a, sender); };
  }

  template <class Sender>
  [[gnu::noinline]] void add_to_heap(Message message, Overflow& overflow, Sender sender) {
    if (!in_heap_) {
      heap_ = overflow.take_heap();
      overflow[heap_].assign(messages_.rbegin(), messages_.rend() - 1);
      in_heap_ = true;
    }
    auto& heap = overflow[heap_];
    heap.push_back(message);
    std::push_heap(heap.begin(), heap.end(), follows(sender));
    messages_[kMost] = heap.front();
  }

  template <class Sender>
  [[gnu::noinline]] Message take_from_heap(Overflow& overflow, Sender sender) {
    auto& heap = overflow[heap_];
    std::pop_heap(heap.begin(), heap.end(), follows(sender));
    const Message message = heap.back();
    heap.pop_back();
    if (heap.empty()) {
      overflow.give_back(heap_);
      in_heap_ = false;
      count_ = 0;
    } else {
      messages_[kMost] = heap.front();
    }
    return message;
  }

  std::array<Message, 1 + kMost> messages_ = {Message::never()};  ///< From 1 on.
  std::uint32_t heap_ = 0;
  std::uint8_t count_ = 0;
  bool in_heap_ = false;  ///< Then count_ is kMost, and messages_[kMost] a copy of the first.
};

}  // namespace idlewave::sim::network
