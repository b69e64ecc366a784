#include "probe/agent/resident.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "probe/shm/clock.h"

namespace idlewave::agent {

using wire::Event;
using wire::EventKind;
using wire::Nanoseconds;
using wire::Phase;

namespace {

constexpr Nanoseconds kHoldCap(shm::kHoldCap);

template <class T>
T read_once(const T& field) {
  return std::atomic_ref<T>(const_cast<T&>(field)).load(std::memory_order_relaxed);
}

}  // namespace

Newcomer Newcomer::in(const shm::Slot& slot) {
  return {read_once(slot.rank), read_once(slot.world_size), read_once(slot.pid), read_once(slot.process_start)};
}

bool Newcomer::has_ended() const {
  if (pid <= 0) return false;
  const int fd = int(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd ended{.fd = fd, .events = POLLIN, .revents = 0};
  const bool has_ended = poll(&ended, 1, 0) == 1;
  close(fd);
  return has_ended;
}

Resident::Resident(Segment& segment, std::uint32_t index, const Newcomer& who, Nanoseconds now, Nanoseconds earliest,
                   Nanoseconds held_before, Names& names)
    : segment_(segment),
      index_(index),
      slot_(segment.slot(index)),
      lane_(slot_, segment.ring(index), segment.ring_events()),
      clock_(segment.clock()),
      who_(who),
      held_before_(std::clamp(held_before, Nanoseconds(0), kHoldCap)),
      joined_at_(now),
      last_(earliest),
      earliest_(earliest) {
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

/// A value that no sender has is not told.
wire::StepSource Resident::step_source() const {
  const std::uint32_t source = slot_.step_source.load(std::memory_order_relaxed);
  return source <= std::uint32_t(wire::StepSource::kFound) ? wire::StepSource(source) : wire::StepSource::kNotSaid;
}

bool Resident::has_news() {
  const std::uint32_t revision = slot_.revision.load(std::memory_order_acquire);
  if (revision == revision_) return false;
  revision_ = revision;
  return true;
}

bool Resident::is_filled(std::uint64_t parts) const {
  return lane_.is_filled(parts) ||
         std::ranges::any_of(threads_, [parts](const auto& thread) { return thread && thread->lane.is_filled(parts); });
}

bool Resident::drain(std::uint64_t end, Names& names, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  const bool all = lane_.drain(end, shm::now(clock_), read);
  tell(read, names, frames);
  return all;
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
  const Nanoseconds earliest = lane_.catch_up(due, shm::now(clock_), read);
  tell(read, names, frames);
  return earliest;
}

Resident::Thread& Resident::thread(std::uint32_t place) {
  std::unique_ptr<Thread>& known = threads_[place];
  if (!known)
    known = std::make_unique<Thread>(
        LaneReader(slot_.threads[place], segment_.thread_ring(index_, place), segment_.thread_ring_events()),
        earliest_);
  return *known;
}

bool Resident::drain_thread(std::uint32_t place, std::uint64_t end, Names& names, EventFrames& frames,
                            std::vector<Event>& read) {
  read.clear();
  Thread& thread = this->thread(place);
  const bool all = thread.lane.drain(end, shm::now(clock_), read);
  tell(place, thread, read, names, frames);
  return all;
}

Nanoseconds Resident::catch_up_thread(std::uint32_t place, Nanoseconds due, Names& names, EventFrames& frames,
                                      std::vector<Event>& read) {
  read.clear();
  Thread& thread = this->thread(place);
  std::atomic<shm::SlotState>& state = slot_.threads[place].state;
  // Another thread may take it just now.
  shm::SlotState stopped = shm::SlotState::kStopped;
  if (state.load(std::memory_order_acquire) == stopped && thread.lane.is_drained() &&
      state.compare_exchange_strong(stopped, shm::SlotState::kFree))
    return Nanoseconds::max();
  const Nanoseconds earliest = thread.lane.catch_up(due, shm::now(clock_), read);
  tell(place, thread, read, names, frames);
  return earliest;
}

void Resident::tell(std::uint32_t place, Thread& thread, std::vector<Event>& read, Names& names, EventFrames& frames) {
  for (Event& event : read) {
    thread.is_there = event.kind != EventKind::kStop;
    event.phase = phases_.translate(event.phase, slot_, names.phases);
    frames.append(lane_of_thread(place), thread.last, event);
  }
}

void Resident::end_threads(Nanoseconds at, EventFrames& frames) {
  for (std::uint32_t place = 0; place < shm::kThreadPlaces; ++place) {
    Thread* thread = threads_[place].get();
    if (thread == nullptr || !thread->is_there) continue;
    if (const std::uint64_t untold = thread->lane.untold(); untold > 0)
      frames.append(lane_of_thread(place), thread->last,
                    {at, std::min(untold, wire::kMaxEventValue), EventKind::kDropped, Phase::kNone});
    frames.append(lane_of_thread(place), thread->last, {at, 0, EventKind::kStop, Phase::kNone});
    thread->is_there = false;
  }
}

void Resident::append_end(Nanoseconds now, EventFrames& frames, std::vector<Event>& read) {
  read.clear();
  if (said_stop_) return end_threads(last_, frames);
  if (process_gone_) now = std::min(now, std::max(process_ended_at_, last_));
  end_threads(now, frames);
  const std::uint64_t untold = lane_.untold();
  if (untold > 0) read.push_back({now, std::min(untold, wire::kMaxEventValue), EventKind::kDropped, Phase::kNone});
  read.push_back({now, 0, EventKind::kLost, Phase::kNone});
  const wire::LaneId lane{wire::LaneId::Kind::kRank, who_.rank};
  for (const Event& event : read) frames.append(lane, last_, event);
}

/// The order goes before the place that it names, so that nothing else lies there while it stands.
void Resident::play(const shm::Noise& noise, TraceShelf::Loan trace) {
  shm::set_noise(slot_, noise);
  trace_ = std::move(trace);
}

void Resident::end_noise_of(wire::CommandId command) {
  if (shm::has_noise_of(slot_, command)) play({}, nullptr);
}

void Resident::let_go() {
  orders_.clear(slot_);
  play({}, nullptr);
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
