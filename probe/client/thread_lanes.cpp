#include "probe/client/thread_lanes.h"

#include <sched.h>

namespace idlewave::client {
namespace {

using shm::SlotState;

constexpr int kMostYields = 100;

/// So that what a thread says does not meet a ring that the last one has left full.
bool is_half_empty(const shm::Stream& stream, std::uint32_t events) {
  return stream.head.load(std::memory_order_relaxed) - stream.tail.load(std::memory_order_acquire) <= events / 2;
}

/// Of the calling thread. The library is there from the start, so that this needs no memory when a thread comes to it.
[[gnu::tls_model("initial-exec")]] thread_local constinit void* own_writer = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local constinit bool is_claiming = false;

}  // namespace

void ThreadLanes::attach(const std::atomic<void*>& reporter, shm::Slot& slot, void* rings, std::uint32_t ring_events,
                         const shm::Clock& clock) {
  reporter_ = &reporter;
  slot_ = &slot;
  rings_ = rings;
  ring_events_ = ring_events;
  clock_ = clock;
  has_key_ = pthread_key_create(&key_, end) == 0;
}

/// Sequentially consistent with the end of the report: either that finds that others have come and leaves them the memory, or
/// they find that nobody reports any more.
bool ThreadLanes::come() {
  if (!have_come_.load()) have_come_.store(true);
  return is_reporting();
}

void ThreadLanes::stop() {
  for (Writer& writer : writers_)
    for (int i = 0; i < kMostYields && writer.is_writing.load(); ++i) sched_yield();
}

LaneWriter* ThreadLanes::acquire() {
  auto* writer = static_cast<Writer*>(own_writer);
  if (writer == nullptr) writer = claim();
  if (writer == nullptr || writer->is_writing.load(std::memory_order_relaxed)) return nullptr;
  writer->is_writing.store(true);
  if (is_reporting()) return &writer->lane;
  writer->is_writing.store(false);
  return nullptr;
}

void ThreadLanes::release() { static_cast<Writer*>(own_writer)->is_writing.store(false, std::memory_order_release); }

std::uint32_t ThreadLanes::own_place() const {
  return static_cast<std::uint32_t>(static_cast<const Writer*>(own_writer) - writers_);
}

/// A signal handler may come in between, and finds none.
ThreadLanes::Writer* ThreadLanes::claim() {
  if (rings_ == nullptr || !has_key_ || is_claiming || !come()) return nullptr;
  is_claiming = true;
  for (std::uint32_t i = 0; i < shm::kThreadPlaces && own_writer == nullptr; ++i)
    if (take(i)) own_writer = &writers_[i];
  is_claiming = false;
  return static_cast<Writer*>(own_writer);
}

/// Also one whose thread has just ended: else threads that live shortly would have to wait for the agent, which looks now
/// and then.
bool ThreadLanes::take(std::uint32_t index) {
  shm::ThreadPlace& place = slot_->threads[index];
  SlotState before = place.state.load(std::memory_order_relaxed);
  if ((before != SlotState::kFree && before != SlotState::kStopped) ||
      !place.state.compare_exchange_strong(before, SlotState::kClaimed))
    return false;
  Writer& writer = writers_[index];
  // Whoever had it may not yet be done with what it does at its end.
  if (writer.is_writing.load() || !is_half_empty(place, shm::thread_ring_events(ring_events_))) {
    place.state.store(before, std::memory_order_release);
    return false;
  }
  writer.is_writing.store(true);
  const bool may_report = is_reporting() && pthread_setspecific(key_, &writer) == 0;
  if (may_report) {
    writer.place = &place;
    writer.of = this;
    std::uint32_t known = slot_->thread_places.load(std::memory_order_relaxed);
    while (known <= index && !slot_->thread_places.compare_exchange_weak(known, index + 1)) continue;
    writer.lane.attach(place, shm::thread_ring_at(rings_, ring_events_, index), shm::thread_ring_events(ring_events_),
                       clock_);
    writer.lane.start();
    place.state.store(SlotState::kLive, std::memory_order_release);
  } else {
    place.state.store(before, std::memory_order_release);
  }
  writer.is_writing.store(false);
  return may_report;
}

/// A thread has ended. What still runs of it may come again.
void ThreadLanes::end(void* own) {
  auto* const writer = static_cast<Writer*>(own);
  writer->is_writing.store(true);
  if (writer->of->is_reporting()) {
    writer->lane.stop();
    writer->place->state.store(SlotState::kStopped, std::memory_order_release);
  }
  writer->is_writing.store(false);
  own_writer = nullptr;
}

void ThreadLanes::count_unseen_call() {
  if (come()) slot_->calls.unseen_calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace idlewave::client
