#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/client/settings.h"
#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"

namespace idlewave::session {
struct AgentRecord;
}

namespace idlewave::client {

/// A rank's place in its node's shared memory: one slot and its ring, taken from a living agent.
class Membership {
 public:
  /// Finds the session's agent, starts one if there is none, and takes a slot. Gives up after 5 s. False: no trace is
  /// left but the folder.
  bool join(const Settings& settings, wire::Rank rank, wire::Rank world_size);

  /// Says that the ring gets no more events, and lets go of the memory, unless other threads may still write to it.
  void leave(bool is_kept);

  shm::Slot& slot() const { return *static_cast<shm::Slot*>(slot_.at()); }
  wire::Event* ring() const { return static_cast<wire::Event*>(ring_.at()); }
  /// Of its threads; null: they could not be mapped.
  void* thread_rings() const { return thread_rings_.at(); }
  std::uint32_t ring_events() const { return ring_events_; }
  const shm::TraceRoom& traces() const { return *static_cast<shm::TraceRoom*>(traces_.at()); }
  const shm::Header& header() const { return *static_cast<shm::Header*>(header_.at()); }

 private:
  enum class Answer { kJoined, kClosed, kRefused };

  /// Some bytes of the segment. All of it would be hundreds of megabytes of the host's address space, which may be
  /// limited.
  class Part {
   public:
    bool map(int fd, std::size_t offset, std::size_t bytes);
    void unmap();
    void* at() const { return at_; }

   private:
    void* memory_ = nullptr;  ///< Whole pages.
    std::size_t bytes_ = 0;
    void* at_ = nullptr;
  };

  Answer enter(int memory_fd, wire::Rank rank, wire::Rank world_size);
  bool map_header(int memory_fd);
  void unmap();
  bool claim_slot(int memory_fd);
  void fill_slot(wire::Rank rank, wire::Rank world_size);
  void touch_ring();
  void map_thread_rings(int memory_fd);
  Answer knock(const session::AgentRecord& agent, wire::Rank rank, wire::Rank world_size);

  Part header_, traces_, slot_, ring_, thread_rings_;
  const char* refusal_ = "";  ///< Why the agent that was asked last can't be joined.
  // As they were when they were checked.
  std::uint32_t slots_ = 0;
  std::uint32_t ring_events_ = 0;
  std::uint32_t index_ = 0;  ///< Of the slot.
};

}  // namespace idlewave::client
