#pragma once

#include <cstdint>
#include <memory>

#include "probe/shm/layout.h"
#include "probe/wire/result.h"

namespace idlewave::agent {

/// The shared memory of one node's session: a memfd that ranks open through /proc, so that it is gone with its last
/// user. Owned by the agent.
class Segment {
 public:
  /// `ring_events`: a power of two. Ranks can't join before header().open is 1.
  static wire::Result<std::unique_ptr<Segment>> make(std::uint32_t slots, std::uint32_t ring_events,
                                                     const shm::Clock& clock);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int fd() const { return fd_; }
  shm::Header& header() { return *static_cast<shm::Header*>(memory_); }
  const shm::Header& header() const { return *static_cast<const shm::Header*>(memory_); }
  shm::Slot& slot(std::uint32_t index) { return shm::slot_at(memory_, index); }
  const wire::Event* ring(std::uint32_t index) { return shm::ring_at(memory_, header(), index); }

 private:
  Segment(int fd, void* memory, std::size_t bytes) : fd_(fd), memory_(memory), bytes_(bytes) {}

  int fd_;
  void* memory_;
  std::size_t bytes_;
};

}  // namespace idlewave::agent
