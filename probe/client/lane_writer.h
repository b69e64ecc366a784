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
    quick_clock_ = shm::QuickClock(clock);
    is_quick_ = shm::QuickClock::can_stand_for(clock);
    last_ = wire::Nanoseconds{};
    current_ = wire::Phase::kNone;
    outer_ = 0;
    depth_ = 0;
    is_looked_after_ = false;
    note_whether_plain();
  }

  void start() { put(wire::EventKind::kStart, 0, wire::Phase::kNone); }
  void stop() { ring_.push_last(make_event(stamp(), 0, wire::EventKind::kStop, wire::Phase::kNone), current()); }

  void begin(wire::Phase phase) {
    if (depth_ >= kMaxDepth) [[unlikely]] {
      ++depth_;
      return note_whether_plain();
    }
    const wire::Phase before = current();
    ++depth_;
    outer_ = outer_ << 8 | static_cast<std::uint8_t>(before);
    current_ = phase;
    note_whether_plain();
    ring_.push(make_event(stamp(), 0, wire::EventKind::kEnter, phase), before);
  }

  void end() {
    if (depth_ == 0 || depth_ > kMaxDepth) [[unlikely]] {
      depth_ -= depth_ > 0;
      return note_whether_plain();
    }
    const wire::Phase before = current();
    --depth_;
    current_ = static_cast<wire::Phase>(outer_ & 0xff);
    outer_ >>= 8;
    note_whether_plain();
    ring_.push(make_event(stamp(), 0, wire::EventKind::kLeave, current()), before);
  }

  /// When that was.
  wire::Nanoseconds switch_to(wire::Phase phase) {
    if (!is_short()) [[unlikely]]
      return switch_to(phase, wire::CallPartners());
    return switch_plainly(phase);
  }
  /// Behind a call with those.
  [[gnu::noinline]] wire::Nanoseconds switch_to(wire::Phase phase, wire::CallPartners with) {
    if (is_within())
      replace(phase, stamp(), with.value());
    else
      switch_outside(phase);
    return last_;
  }
  /// While is_short(). One function for all: what stands in several places is fetched several times, and finds less room.
  [[gnu::noinline]] wire::Nanoseconds switch_plainly(wire::Phase phase) {
    wire::Nanoseconds now = quick_clock_.now();
    if (now < last_) [[unlikely]]
      now = last_;
    last_ = now;
    const wire::Phase before = current_;
    current_ = phase;
    return ring_.push_switch(now, phase, before);
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
  wire::Phase current() const { return current_; }

  /// A switch is a stamp by the counter and a store, as nearly always.
  bool is_short() const { return way_ >= Way::kShort; }
  /// The same, and there is nothing else to look at.
  bool is_plain() const { return way_ == Way::kPlain; }
  /// Whoever switches has to look at more, and be told so by is_plain().
  void be_looked_after(bool is_so) {
    is_looked_after_ = is_so;
    note_whether_plain();
  }
  /// For good.
  void be_plain_no_more() {
    way_ = Way::kLong;
    is_quick_ = false;
  }

  /// Of the latest event that has one of its own.
  wire::Nanoseconds last() const { return last_; }

  /// What it has told.
  const RingWriter& ring() const { return ring_; }

  /// The clock of the events; never behind the last of them.
  wire::Nanoseconds now() const { return std::max(last_, is_quick_ ? quick_clock_.now() : now_by_any_clock()); }

 private:
  /// Of a switch.
  enum class Way : std::uint8_t { kLong, kShort, kPlain };

  static std::uint64_t clamp(std::uint64_t value) { return std::min(value, wire::kMaxEventValue); }

  [[gnu::noinline, gnu::cold]] wire::Nanoseconds now_by_any_clock() const { return shm::now(clock_); }
  /// Two cores' counters may differ by a little when a rank is moved.
  wire::Nanoseconds stamp() { return last_ = now(); }

  /// A phase goes on that is not deeper than what is told.
  bool is_within() const { return static_cast<unsigned>(depth_ - 1) < static_cast<unsigned>(kMaxDepth); }
  void note_whether_plain() {
    way_ = !is_quick_ || !is_within() ? Way::kLong : is_looked_after_ ? Way::kShort : Way::kPlain;
  }

  void replace(wire::Phase phase, wire::Nanoseconds time, std::uint64_t value) {
    ring_.push(make_event(time, value, wire::EventKind::kSwitch, phase), current_);
    current_ = phase;
  }
  [[gnu::noinline, gnu::cold]] void switch_outside(wire::Phase phase) {
    if (depth_ == 0) begin(phase);
  }

  void put(wire::EventKind kind, std::uint64_t value, wire::Phase phase) {
    ring_.push(make_event(stamp(), value, kind, phase), current());
  }

  // In the order of their use: two lines of the cache hold what an event needs.
  Way way_ = Way::kLong;
  wire::Phase current_ = wire::Phase::kNone;
  wire::Nanoseconds last_{};
  shm::QuickClock quick_clock_;
  RingWriter ring_;
  bool is_quick_ = false;  ///< There is a quick clock.
  bool is_looked_after_ = false;
  int depth_ = 0;
  std::uint64_t outer_ = 0;  ///< Phases around the current one, a byte each, the innermost lowest.
  shm::Clock clock_;
};

}  // namespace idlewave::client
