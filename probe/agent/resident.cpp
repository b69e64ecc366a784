#include "probe/agent/resident.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "probe/shm/clock.h"

namespace idlewave::agent {

using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;

namespace {

constexpr Nanoseconds kHoldCap(shm::kHoldCap);
/// A rank that sums and has said nothing for so long sits in a long phase, which it will tell by itself.
constexpr Nanoseconds kPreempted = std::chrono::milliseconds(100);

/// Two kinds are not a rank's to send, and one it says in other words.
bool may_send(EventKind kind) {
  if (kind == shm::kRunTime || kind == shm::kRunEnd) return true;
  return std::uint8_t(kind) < wire::kEventKindLimit && kind != EventKind::kBandwidth && kind != EventKind::kLost &&
         kind != EventKind::kSummed;
}

Event checked(Event event, Nanoseconds latest) {
  if (!may_send(event.kind)) event = {event.time, 1, EventKind::kDropped, Phase::kNone};
  event.time = std::clamp(event.time, Nanoseconds(0), latest);
  return event;
}

template <class T>
T read_once(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_relaxed);
}

}  // namespace

Newcomer Newcomer::in(const shm::Slot& slot) {
  return {read_once(slot.rank), read_once(slot.world_size), read_once(slot.pid), read_once(slot.process_start)};
}

Resident::Resident(Segment& segment, std::uint32_t index, const Newcomer& who, Nanoseconds now, Nanoseconds earliest,
                   Nanoseconds held_before, Names& names)
    : slot_(segment.slot(index)),
      ring_(segment.ring(index)),
      capacity_(segment.ring_events()),
      clock_(segment.clock()),
      who_(who),
      tail_(slot_.tail.load(std::memory_order_relaxed)),
      held_before_(std::clamp(held_before, Nanoseconds(0), kHoldCap)),
      joined_at_(now),
      last_(earliest) {
  slot_.held_before_ns.store(held_before_.count(), std::memory_order_relaxed);
  cycle_ = partners_.translate(slot_.partners.followed.load(std::memory_order_acquire), slot_.partners,
                               {who_.rank, who_.world_size}, names.partners);
  process_fd_ = int(syscall(SYS_pidfd_open, who_.pid, 0));
  // Looked at after it was opened, so that it can't be another process that got the same number.
  if (!process_runs()) note_process_end(now);
}

Resident::~Resident() { forget_process_fd(); }

void Resident::forget_process_fd() {
  if (process_fd_ >= 0) close(std::exchange(process_fd_, -1));
}

bool Resident::has_news() {
  const std::uint32_t revision = slot_.revision.load(std::memory_order_acquire);
  if (revision == revision_) return false;
  revision_ = revision;
  return true;
}

bool Resident::drain(std::uint64_t end, Names& names, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  const Nanoseconds latest = shm::now(clock_);
  // More than the ring holds: the rank has overwritten its own slot. What is in the ring can't be believed.
  if (end - tail_ > capacity_) {
    read.push_back({latest, std::min(end - tail_, wire::kMaxEventValue), EventKind::kDropped, Phase::kNone});
    tail_ = end;
  }
  const std::uint64_t stop = tail_ + std::min(end - tail_, kAtOnce);
  for (; tail_ != stop; ++tail_) runs_.take(checked(ring_[tail_ & (capacity_ - 1)], latest), read);
  slot_.tail.store(tail_, std::memory_order_release);
  tell(read, names, frames);
  return tail_ == end;
}

void Resident::tell(std::vector<Event>& read, Names& names, EventFrames& frames) {
  const wire::LaneId lane{wire::LaneId::Kind::kRank, who_.rank};
  for (Event& event : read) {
    translate(event, names);
    frames.append(lane, last_, event);
  }
}

void Resident::translate(Event& event, Names& names) {
  event.phase = phases_.translate(event.phase, slot_, names.phases);
  if (event.kind == EventKind::kPartners)
    event.value = cycle_ =
        partners_.translate(event.value, slot_.partners, {who_.rank, who_.world_size}, names.partners);
  if (event.kind == EventKind::kStop) said_stop_ = true;
}

Nanoseconds Resident::catch_up(Nanoseconds due, Names& names, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  shm::Run run;
  const bool is_whole = slot_.run.get(run);
  const bool was_summing = was_summing_;
  was_summing_ = !is_whole || run.position != shm::Run::kNowhere;
  const auto told_until = runs_.told_until();
  if (!told_until || (!was_summing && !was_summing_)) return Nanoseconds::max();
  const Nanoseconds now = shm::now(clock_), end(run.end_ns);
  // Else the rank has told more since, or is just doing so.
  const bool is_next = is_whole && run.position == tail_ && end >= Nanoseconds(0) && end <= now;
  if (is_next && *told_until < due) runs_.take(run, read);
  tell(read, names, frames);
  // It may have lost its processor when it had read the clock and not yet said so.
  return now - *runs_.told_until() < kPreempted ? *runs_.told_until() : Nanoseconds::max();
}

void Resident::append_end(Nanoseconds now, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  if (said_stop_) return;
  if (process_gone_) now = std::min(now, std::max(process_ended_at_, last_));
  const std::uint64_t untold = slot_.dropped.load(std::memory_order_acquire) + runs_.is_torn();
  if (untold > 0) read.push_back({now, std::min(untold, wire::kMaxEventValue), EventKind::kDropped, Phase::kNone});
  read.push_back({now, 0, EventKind::kLost, Phase::kNone});
  const wire::LaneId lane{wire::LaneId::Kind::kRank, who_.rank};
  for (const Event& event : read) frames.append(lane, last_, event);
}

void Resident::let_go() {
  orders_.clear(slot_);
  shm::set_noise(slot_, {});
}

Nanoseconds Resident::held() const {
  const Nanoseconds now(slot_.held_ns.load(std::memory_order_acquire));
  return std::min(held_before_ + std::clamp(now, Nanoseconds(0), kHoldCap), kHoldCap);
}

/// What is outstanding is looked at first: an order that ends in between is counted twice rather than not at all.
Nanoseconds Resident::may_be_held() const {
  const Nanoseconds outstanding = orders_.outstanding(slot_);
  return std::max(kHoldCap - held() - outstanding, Nanoseconds(0));
}

void Resident::free_slot() {
  orders_.clear(slot_);
  shm::reset_gates(slot_);
  slot_.held_before_ns.store(0, std::memory_order_relaxed);
  slot_.pid = 0;
  slot_.process_start = 0;
  slot_.dropped.store(0, std::memory_order_relaxed);
  slot_.state.store(shm::SlotState::kFree, std::memory_order_release);
}

}  // namespace idlewave::agent
