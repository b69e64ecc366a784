#include "probe/agent/lane_reader.h"

#include <algorithm>

namespace idlewave::agent {

using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;

namespace {

/// A writer that sums and has said nothing for so long sits in a long phase, which it will tell by itself.
constexpr Nanoseconds kPreempted = std::chrono::milliseconds(100);

/// Two kinds are not a rank's to send, and one it says in other words.
bool may_send(EventKind kind) {
  if (kind == shm::kRunTime || kind == shm::kRunEnd) return true;
  return std::uint8_t(kind) < wire::kEventKindLimit && kind != EventKind::kBandwidth && kind != EventKind::kLost &&
         kind != EventKind::kSummed;
}

Event checked(Event event, Nanoseconds latest) {
  if (!may_send(event.kind)) event = {event.time, 1, EventKind::kDropped, wire::Phase::kNone};
  event.time = std::clamp(event.time, Nanoseconds(0), latest);
  return event;
}

}  // namespace

bool LaneReader::drain(std::uint64_t end, Nanoseconds latest, std::vector<Event>& read) {
  // More than the ring holds: the writer has overwritten its own memory. What is in the ring can't be believed.
  if (end - tail_ > capacity_) {
    read.push_back({latest, std::min(end - tail_, wire::kMaxEventValue), EventKind::kDropped, wire::Phase::kNone});
    tail_ = end;
  }
  const std::uint64_t stop = tail_ + std::min(end - tail_, kAtOnce);
  for (; tail_ != stop; ++tail_) runs_.take(checked(ring_[tail_ & (capacity_ - 1)], latest), read);
  stream_.tail.store(tail_, std::memory_order_release);
  return tail_ == end;
}

Nanoseconds LaneReader::catch_up(Nanoseconds due, Nanoseconds now, std::vector<Event>& read) {
  shm::Run run;
  const bool is_whole = stream_.run.get(run);
  const bool was_summing = was_summing_;
  was_summing_ = !is_whole || run.position != shm::Run::kNowhere;
  const auto told_until = runs_.told_until();
  if (!told_until || (!was_summing && !was_summing_)) return Nanoseconds::max();
  const Nanoseconds end(run.end_ns);
  // Else the rank has told more since, or is just doing so.
  const bool is_next = is_whole && run.position == tail_ && end >= Nanoseconds(0) && end <= now;
  if (is_next && *told_until < due) runs_.take(run, read);
  // It may have lost its processor when it had read the clock and not yet said so.
  return now - *runs_.told_until() < kPreempted ? *runs_.told_until() : Nanoseconds::max();
}

}  // namespace idlewave::agent
