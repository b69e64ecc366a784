#pragma once

#include <algorithm>
#include <cstdint>

#include "probe/client/ring_writer.h"
#include "probe/shm/clock.h"
#include "probe/shm/layout.h"
#include "probe/wire/call_partners.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::client {

/// Turns what a thread says about itself into events of its lane: stamps them, keeps the nesting, and writes them to the
/// ring. One thread. Each call costs one reading of the counter (traffic none) and one store.
class LaneWriter {
 public:
  static constexpr int kMaxDepth = 8;

  void attach(shm::Stream& stream, wire::Event* ring, std::uint32_t ring_events, const shm::Clock& clock) {
    ring_.attach(stream, ring, ring_events);
    clock_ = clock;
    last_ = wire::Nanoseconds{};
    stack_ = 0;
    depth_ = 0;
  }

  void start() { put(wire::EventKind::kStart, 0, wire::Phase::kNone); }
  void stop() { ring_.push_last(make_event(stamp(), 0, wire::EventKind::kStop, wire::Phase::kNone), current()); }

  void begin(wire::Phase phase) {
    if (depth_ >= kMaxDepth) [[unlikely]] {
      ++depth_;
      return;
    }
    const wire::Phase before = current();
    ++depth_;
    stack_ = stack_ << 8 | static_cast<std::uint8_t>(phase);
    ring_.push(make_event(stamp(), 0, wire::EventKind::kEnter, phase), before);
  }

  void end() {
    if (depth_ == 0 || depth_ > kMaxDepth) [[unlikely]] {
      depth_ -= depth_ > 0;
      return;
    }
    const wire::Phase before = current();
    --depth_;
    stack_ >>= 8;
    ring_.push(make_event(stamp(), 0, wire::EventKind::kLeave, current()), before);
  }

  void switch_to(wire::Phase phase) {
    if (!is_within()) [[unlikely]]
      return switch_outside(phase);
    replace(phase, stamp(), 0);
  }

  /// Behind a call with those.
  void switch_to(wire::Phase phase, wire::CallPartners with) {
    if (!is_within()) [[unlikely]]
      return switch_outside(phase);
    replace(phase, stamp(), with.value());
  }

  /// At the time of the event before it, which begins with this phase.
  void switch_with_last(wire::Phase phase, wire::CallPartners with = {}) {
    if (!is_within()) [[unlikely]]
      return switch_outside(phase);
    replace(phase, last_, with.value());
  }

  /// At a time that has passed, unless an event has come since.
  void switch_since(wire::Phase phase, wire::Nanoseconds time) {
    if (!is_within()) [[unlikely]]
      return switch_outside(phase);
    replace(phase, last_ = std::max(last_, time), 0);
  }

  void step(wire::Step number) { put(wire::EventKind::kStep, clamp(static_cast<std::uint64_t>(number)), current()); }
  /// It began with the event before.
  void step_with_last(wire::Step number) {
    const wire::Event event =
        make_event(last_, clamp(static_cast<std::uint64_t>(number)), wire::EventKind::kStep, current());
    ring_.push(event, current());
  }
  void threads(std::uint64_t active) { put(wire::EventKind::kThreads, active, current()); }

  /// False: it found no room.
  bool partners(std::uint32_t cycle) {
    return ring_.push(make_event(last_, cycle, wire::EventKind::kPartners, current()), current());
  }

  /// Belongs to the event before it and takes its time: a stamp less to read, and a byte on the wire.
  void traffic(std::uint64_t bytes) {
    ring_.push(make_event(last_, clamp(bytes), wire::EventKind::kTraffic, current()), current());
  }

  /// `held`: kDelay or kNoise. Until end_hold the rank says nothing else.
  void begin_hold(wire::Phase held, wire::CommandId command) { put(wire::EventKind::kDelayBegin, command, held); }
  void end_hold(wire::Phase held, wire::CommandId command) {
    ring_.push(make_event(stamp(), command, wire::EventKind::kDelayEnd, current()), held);
  }

  /// The phase that goes on; kNone outside of all.
  wire::Phase current() const { return static_cast<wire::Phase>(stack_ & 0xff); }

  /// Of the latest event that has one of its own.
  wire::Nanoseconds last() const { return last_; }

  /// What it has told.
  const RingWriter& ring() const { return ring_; }

  /// The clock of the events; never behind the last of them.
  wire::Nanoseconds now() const { return std::max(last_, shm::now(clock_)); }

 private:
  static std::uint64_t clamp(std::uint64_t value) { return std::min(value, wire::kMaxEventValue); }

  /// Two cores' counters may differ by a little when a rank is moved.
  wire::Nanoseconds stamp() { return last_ = now(); }

  /// A phase goes on that is not deeper than what is told.
  bool is_within() const { return static_cast<unsigned>(depth_ - 1) < static_cast<unsigned>(kMaxDepth); }

  void replace(wire::Phase phase, wire::Nanoseconds time, std::uint64_t value) {
    const wire::Phase before = current();
    stack_ = (stack_ & ~std::uint64_t{0xff}) | static_cast<std::uint8_t>(phase);
    ring_.push(make_event(time, value, wire::EventKind::kSwitch, phase), before);
  }
  [[gnu::noinline, gnu::cold]] void switch_outside(wire::Phase phase) {
    if (depth_ == 0) begin(phase);
  }

  void put(wire::EventKind kind, std::uint64_t value, wire::Phase phase) {
    ring_.push(make_event(stamp(), value, kind, phase), current());
  }

  // In the order of their use: two lines of the cache hold what an event needs.
  int depth_ = 0;
  std::uint64_t stack_ = 0;  ///< One byte a level, the innermost lowest; levels beyond kMaxDepth are only counted.
  shm::Clock clock_;
  wire::Nanoseconds last_{};
  RingWriter ring_;
};

}  // namespace idlewave::client
