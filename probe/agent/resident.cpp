#include "probe/agent/resident.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "probe/shm/clock.h"
#include "probe/wire/session_directory.h"

namespace idlewave::agent {

using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;

Resident::Resident(shm::Slot& slot, const Event* ring, const shm::Header& header, Nanoseconds now, Nanoseconds earliest)
    : slot_(slot),
      ring_(ring),
      header_(header),
      rank_(slot.rank),
      pid_(slot.pid),
      process_start_(slot.process_start),
      joined_at_(now),
      last_(earliest) {
  process_fd_ = int(syscall(SYS_pidfd_open, pid_, 0));
  // Looked at after it was opened, so that it can't be another process that got the same number.
  process_gone_ = !process_runs();
}

Resident::~Resident() {
  if (process_fd_ >= 0) close(process_fd_);
}

bool Resident::process_runs() const { return wire::process_start_time(pid_) == process_start_; }

bool Resident::has_news() {
  const std::uint32_t revision = slot_.revision.load(std::memory_order_acquire);
  if (revision == revision_) return false;
  revision_ = revision;
  return true;
}

bool Resident::drain(std::uint64_t end, PhaseNames& names, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  std::uint64_t tail = slot_.tail.load(std::memory_order_relaxed);
  const Nanoseconds latest = shm::now(header_.clock);
  const std::uint64_t capacity = header_.ring_events;
  // More than the ring holds: the rank has overwritten its own slot. What is in the ring can't be believed.
  if (end - tail > capacity) {
    read.push_back({latest, std::min(end - tail, wire::kMaxEventValue), EventKind::kDropped, Phase::kNone});
    tail = end;
  }
  const std::uint64_t stop = tail + std::min(end - tail, kAtOnce);
  for (; tail != stop; ++tail) read.push_back(checked(ring_[tail & (capacity - 1)], latest, names));
  slot_.tail.store(tail, std::memory_order_release);
  const wire::LaneId lane{wire::LaneId::Kind::kRank, rank_};
  for (const Event& event : read) frames.append(lane, last_, event);
  return tail == end;
}

Event Resident::checked(Event event, Nanoseconds latest, PhaseNames& names) {
  // Two kinds are not a rank's to send.
  const bool known = std::uint8_t(event.kind) < wire::kEventKindLimit && event.kind != EventKind::kBandwidth &&
                     event.kind != EventKind::kLost;
  if (!known) event = {event.time, 1, EventKind::kDropped, Phase::kNone};
  event.time = std::min(event.time, latest);
  event.phase = phases_.translate(event.phase, slot_, names);
  if (event.kind == EventKind::kStop) said_stop_ = true;
  return event;
}

void Resident::append_end(Nanoseconds now, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  if (said_stop_) return;
  const std::uint64_t untold = slot_.dropped.load(std::memory_order_acquire);
  if (untold > 0) read.push_back({now, std::min(untold, wire::kMaxEventValue), EventKind::kDropped, Phase::kNone});
  read.push_back({now, 0, EventKind::kLost, Phase::kNone});
  const wire::LaneId lane{wire::LaneId::Kind::kRank, rank_};
  for (const Event& event : read) frames.append(lane, last_, event);
}

void Resident::free_slot() {
  orders_.clear(slot_);
  shm::reset_gates(slot_);
  slot_.pid = 0;
  slot_.process_start = 0;
  slot_.dropped.store(0, std::memory_order_relaxed);
  slot_.state.store(shm::SlotState::kFree, std::memory_order_release);
}

}  // namespace idlewave::agent
