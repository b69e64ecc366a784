#pragma once

#include <cstdint>
#include <memory>

#include "probe/shm/layout.h"
#include "probe/wire/result.h"

namespace idlewave::agent {

/// The shared memory of one node's session: a memfd that ranks open through /proc, so that it is gone with its last
/// user. Its size is sealed, and sizes are never read back from it: ranks may write anything into it. Owned by the
/// agent.
class Segment {
 public:
  /// `ring_events`: a power of two. Ranks can't join before header().open is 1.
  static wire::Result<std::unique_ptr<Segment>> make(std::uint32_t slots, std::uint32_t ring_events,
                                                     const shm::Clock& clock);
  /// With fewer slots where addresses are limited (ulimit -v), so that the rest of the agent has room, too.
  static wire::Result<std::unique_ptr<Segment>> make_as_large_as_fits(std::uint32_t most_slots,
                                                                      std::uint32_t ring_events,
                                                                      const shm::Clock& clock);
  /// That of an agent that has died, as somebody handed it to us. It may hold anything.
  static wire::Result<std::unique_ptr<Segment>> take(int fd);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int fd() const { return fd_; }
  shm::Header& header() { return *static_cast<shm::Header*>(memory_); }
  const shm::Header& header() const { return *static_cast<const shm::Header*>(memory_); }
  std::uint32_t slots() const { return slots_; }
  std::uint32_t ring_events() const { return ring_events_; }
  const shm::Clock& clock() const { return clock_; }
  shm::TraceRoom& traces() { return shm::traces_at(memory_); }
  shm::Slot& slot(std::uint32_t index) { return shm::slot_at(memory_, index); }
  std::uint32_t thread_ring_events() const { return shm::thread_ring_events(ring_events_); }
  const wire::Event* thread_ring(std::uint32_t index, std::uint32_t place) {
    return shm::thread_ring_at(shm::thread_rings_at(memory_, slots_, ring_events_, index), ring_events_, place);
  }
  const wire::Event* ring(std::uint32_t index) { return shm::ring_at(memory_, slots_, ring_events_, index); }

 private:
  Segment(int fd, void* memory, std::uint32_t slots, std::uint32_t ring_events, const shm::Clock& clock)
      : fd_(fd), memory_(memory), slots_(slots), ring_events_(ring_events), clock_(clock) {}

  int fd_;
  void* memory_;
  std::uint32_t slots_;
  std::uint32_t ring_events_;
  shm::Clock clock_;
};

}  // namespace idlewave::agent
