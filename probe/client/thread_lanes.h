#pragma once
// The lanes of threads that report beside the one that the rank reports by: each takes a place in the rank's slot when it first
// has something to say, and leaves it to another when it ends.

#include <pthread.h>

#include <atomic>

#include "probe/client/lane_writer.h"
#include "probe/shm/layout.h"

namespace idlewave::client {

/// Of one rank. Any thread, but for attach and stop, which are the reporting one's.
class ThreadLanes {
 public:
  /// `reporter`: the thread that the rank reports by; null while nobody reports. `rings` null: no thread finds a place. Slot
  /// and rings stay mapped once a thread has come; see may_write.
  void attach(const std::atomic<void*>& reporter, shm::Slot& slot, void* rings, std::uint32_t ring_events,
              const shm::Clock& clock);
  /// After nobody reports any more: lets threads that are just writing have the processor, for a
  /// hundred turns at most.
  void stop();
  /// Whether another thread may be about to write to the slot. Ask after stop().
  bool may_write() const { return have_come_.load(); }

  /// Before the library may be unloaded: threads that end later don't come back to it.
  void forget() {
    if (has_key_) pthread_key_delete(key_);
    has_key_ = false;
  }

  /// The lane of the calling thread, to be written to until release(). Null: it has no place, or nobody reports, or it is a
  /// signal handler that has come in between.
  LaneWriter* acquire();
  void release();
  /// Which of the rank's places the calling thread has, from 0; between acquire() and release(), and the same each time.
  std::uint32_t own_place() const;

  /// A call of a library that is watched, which nobody sees: of a thread that has no lane.
  void count_unseen_call();

 private:
  struct Writer {
    LaneWriter lane;
    std::atomic<bool> is_writing{false};
    shm::ThreadPlace* place = nullptr;
    const ThreadLanes* of = nullptr;
  };

  bool is_reporting() const { return reporter_->load() != nullptr; }
  bool come();
  Writer* claim();
  bool take(std::uint32_t index);
  static void end(void* writer);

  const std::atomic<void*>* reporter_ = nullptr;
  shm::Slot* slot_ = nullptr;
  void* rings_ = nullptr;
  std::uint32_t ring_events_ = 0;
  shm::Clock clock_;
  pthread_key_t key_ = 0;
  bool has_key_ = false;
  std::atomic<bool> have_come_{false};
  Writer writers_[shm::kThreadPlaces];
};

}  // namespace idlewave::client
