#include "probe/client/ring_writer.h"

#include <algorithm>

namespace idlewave::client {

using wire::Nanoseconds;
using wire::Phase;

Nanoseconds RingWriter::push_switch_slowly(Nanoseconds time, Phase phase, Phase before) {
  push_most_slowly(make_event(time, 0, wire::EventKind::kSwitch, phase), before);
  return time;
}

bool RingWriter::push_slowly(wire::Event event, Phase before) {
  if (event.kind == wire::EventKind::kSwitch && sum_.add_to_many(event.time, event.phase, before)) {
    ++events_since_;
    return true;
  }
  return push_most_slowly(event, before);
}

bool RingWriter::push_most_slowly(wire::Event event, Phase before) {
  if (!is_summing_)
    choose(event.time);
  else if (++events_since_; sum_.add(event))
    return true;
  if (find_room(places_before(event) + 1, kReserved)) return tell(event, before);
  lose(sum_.run().count + 1);
  return false;
}

bool RingWriter::tell(wire::Event event, Phase before) {
  tell_dropped(event.time, before);
  tell_run_before(event);
  store(event);
  if (is_summing_) leave_sums_if_slow(event.time);
  if (is_summing_) sum_.begin(head_, event);
  room_end_ = is_summing_ ? head_ : std::min(limit_, std::max(head_, looked_head_ + look_every()));
  return true;
}

void RingWriter::push_last(wire::Event event, Phase before) {
  if (find_room(places_before(event), kReserved)) {
    tell_dropped(event.time, before);
    tell_run_before(event);
  } else {
    lose(sum_.run().count);
  }
  sum_.stop();
  if (!find_room(1, 0)) return;
  tell_dropped(event.time, before);
  store(event);
}

/// Looks at the agent's position, which the fast path leaves alone, if what is known of it is too little. False if there
/// is no room for so many events, and for the count of lost ones ahead of them.
bool RingWriter::find_room(std::uint64_t events, std::uint64_t reserved) {
  const auto needed = static_cast<std::int64_t>(events + (dropped_ > 0));
  if (room() < needed) look_at_agent(reserved);
  return room() >= needed;
}

void RingWriter::look_at_agent(std::uint64_t reserved) {
  limit_ = stream_->tail.load(std::memory_order_acquire) + mask_ + 1 - reserved;
}

/// Whether short phases are summed from now on.
void RingWriter::choose(Nanoseconds now) {
  look_at_agent(kReserved);
  const std::uint64_t events = head_ - looked_head_;
  const bool is_fast =
      events >= look_every() && now.count() - looked_ns_ < static_cast<std::int64_t>(events) * kShortestGap;
  is_summing_ = may_sum() && (is_fast || is_filling());
  note_look(now);
}

/// At half the pace at which sums begin.
void RingWriter::leave_sums_if_slow(Nanoseconds now) {
  const std::int64_t passed = now.count() - looked_ns_;
  if (passed < kWindow) return;
  look_at_agent(kReserved);
  const bool is_slow = passed > 2 * static_cast<std::int64_t>(events_since_) * kShortestGap;
  is_summing_ = !is_slow || is_filling();
  note_look(now);
  if (!is_summing_) sum_.stop();
}

void RingWriter::note_look(Nanoseconds now) {
  looked_ns_ = now.count();
  looked_head_ = head_;
  events_since_ = 0;
}

std::uint64_t RingWriter::places_before(const wire::Event& event) const {
  const shm::Run& run = sum_.run();
  return (sum_.is_few() ? run.count : run.used() + std::uint64_t{1}) + sum_.is_due_before(event);
}

void RingWriter::tell_run_before(const wire::Event& event) {
  tell_run();
  if (sum_.is_due_before(event)) store(sum_.latest_step());
}

void RingWriter::tell_run() {
  if (sum_.is_few()) {
    for (const wire::Event& event : sum_.events()) store(event);
    return;
  }
  const shm::Run& run = sum_.run();
  const Nanoseconds end(run.end_ns);
  for (std::uint32_t i = 0; i < run.used(); ++i)
    store(make_event(end, static_cast<std::uint64_t>(run.ns[i]), shm::kRunTime, run.phase(i)));
  store(make_event(end, run.count, shm::kRunEnd, run.current()));
}

void RingWriter::lose(std::uint64_t events) {
  dropped_ += events;
  stream_->dropped.store(dropped_, std::memory_order_relaxed);
  sum_.stop();
  room_end_ = head_;
}

void RingWriter::tell_dropped(Nanoseconds time, Phase before) {
  if (dropped_ == 0) return;
  store(make_event(time, std::min(dropped_, wire::kMaxEventValue), wire::EventKind::kDropped, before));
  dropped_ = 0;
  stream_->dropped.store(0, std::memory_order_release);
}

}  // namespace idlewave::client
