#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/client/settings.h"
#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::wire {
struct AgentRecord;
}

namespace idlewave::client {

/// A rank's place in its node's shared memory: one slot and its ring, taken from a living agent.
class Membership {
 public:
  /// Finds the session's agent, starts one if there is none, and takes a slot. Gives up after 5 s. False: no trace is
  /// left but the folder.
  bool join(const Settings& settings, wire::Rank rank, wire::Rank world_size);

  /// Says that the ring gets no more events, and lets go of the memory.
  void leave();

  shm::Slot& slot() const { return *slot_; }
  wire::Event* ring() const { return shm::ring_at(memory_, slots_, ring_events_, index_); }
  std::uint32_t ring_events() const { return ring_events_; }
  const shm::Header& header() const { return *static_cast<shm::Header*>(memory_); }

 private:
  enum class Answer { kJoined, kClosed, kRefused };

  Answer enter(int memory_fd, wire::Rank rank, wire::Rank world_size);
  bool map(int memory_fd);
  void unmap();
  bool claim_slot();
  void fill_slot(wire::Rank rank, wire::Rank world_size);
  void touch_ring();
  Answer knock(const wire::AgentRecord& agent, wire::Rank rank, wire::Rank world_size);

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  // As they were when they were checked.
  std::uint32_t slots_ = 0;
  std::uint32_t ring_events_ = 0;
  shm::Slot* slot_ = nullptr;
  std::uint32_t index_ = 0;
};

}  // namespace idlewave::client
