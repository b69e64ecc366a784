#pragma once
// The agent's side of a session as far as a rank sees it, played by the process of the rank itself.

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/session/sweep.h"
#include "probe/shm/clock.h"
#include "probe/shm/layout.h"

namespace idlewave::bench {

/// Takes events out when it is told to, so that the ring never fills.
class PlayedNode {
 public:
  bool open(std::uint32_t ring_events = shm::kDefaultRingEvents) {
    ring_events_ = ring_events;
    if (mkdtemp(folder_) == nullptr) return false;
    setenv("IDLEWAVE_DIR", folder_, 1);
    setenv("IDLEWAVE_SESSION", "bench", 1);
    unsetenv("IDLEWAVE_DISABLE");
    const std::size_t bytes = shm::segment_bytes(1, ring_events_);
    const int memory = memfd_create("idlewave-bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || ftruncate(memory, static_cast<off_t>(bytes)) != 0) return false;
    if (fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) != 0) return false;
    segment_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (segment_ == MAP_FAILED) return false;
    write_header();
    session::AgentRecord record;
    record.pid = getpid();
    record.start = session::process_start_time(record.pid);
    record.memory_fd = memory;
    return session::make_session_directory("bench") && session::write_agent_record("bench", record);
  }
  ~PlayedNode() {
    session::remove_session_directory("bench");
    rmdir(folder_);
  }

  void drain() {
    shm::Slot& slot = shm::slot_at(segment_, 0);
    slot.tail.store(slot.head.load(std::memory_order_relaxed), std::memory_order_release);
  }
  bool has_lost() const { return shm::slot_at(segment_, 0).dropped.load() != 0; }

 private:
  void write_header() {
    auto* header = new (segment_) shm::Header;
    header->magic = shm::kMagic;
    header->version = shm::kLayoutVersion;
    header->slots = 1;
    header->ring_events = ring_events_;
    header->clock = {shm::kHasCounter, 0, shm::read_counter(), 1'756'234'567, shm::monotonic_now().count()};
    header->open.store(1);
  }

  char folder_[32] = "/tmp/iw-bench-XXXXXX";
  std::uint32_t ring_events_ = 0;
  void* segment_ = nullptr;
};

}  // namespace idlewave::bench
