#pragma once
// A node for tests of the probe: a session folder of its own and a shared segment, whose agent is the test.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "probe/session/agent_record.h"
#include "probe/session/directory.h"
#include "probe/shm/clock.h"
#include "probe/shm/clock_reading.h"
#include "probe/shm/gate.h"
#include "probe/shm/layout.h"
#include "probe/wire/vocabulary.h"
#include "tests/remove_folder.h"

namespace idlewave::test {

/// A folder that is gone with its owner, and that IDLEWAVE_DIR names meanwhile. The rest of the probe's environment is
/// cleared.
class SessionRoot {
 public:
  SessionRoot() {
    if (mkdtemp(path_) == nullptr) std::abort();
    setenv("IDLEWAVE_DIR", path_, 1);
    for (const char* name :
         {"IDLEWAVE_SESSION", "IDLEWAVE_ENDPOINT", "IDLEWAVE_KEY", "IDLEWAVE_DISABLE", "IDLEWAVE_AGENT"})
      unsetenv(name);
  }
  ~SessionRoot() { remove_folder(path_); }
  SessionRoot(const SessionRoot&) = delete;
  SessionRoot& operator=(const SessionRoot&) = delete;
  std::filesystem::path path() const { return path_; }

 private:
  char path_[32] = "/tmp/idlewave-test-XXXXXX";
};

/// By the kernel's clock, which orders are obeyed by; 32.32 fixed point.
inline std::uint64_t ns_per_tick() {
  static const std::uint64_t measured = [] {
    const shm::ClockReading first = shm::read_both_clocks();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    const shm::ClockReading last = shm::read_both_clocks();
    return shm::kHasCounter ? std::uint64_t(double(last.ns - first.ns) / double(last.counter - first.counter) * 0x1p32)
                            : 0;
  }();
  return measured;
}

/// Shared memory as an agent makes it.
class Segment {
 public:
  explicit Segment(std::uint32_t slots = 4, std::uint32_t ring_events = 1024) {
    bytes_ = shm::segment_bytes(slots, ring_events);
    fd_ = memfd_create("idlewave-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd_ < 0 || ftruncate(fd_, static_cast<off_t>(bytes_)) != 0) std::abort();
    if (fcntl(fd_, F_ADD_SEALS, F_SEAL_SHRINK) != 0) std::abort();
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory_ == MAP_FAILED) std::abort();
    auto* made = new (memory_) shm::Header;
    made->version = shm::kLayoutVersion;
    made->slots = slots;
    made->ring_events = ring_events;
    made->clock = {shm::kHasCounter, 0, shm::read_counter(), ns_per_tick(), shm::monotonic_now().count()};
    be_drained_by(getpid());
    made->open.store(1);
    made->magic = shm::kMagic;
  }
  ~Segment() {
    munmap(memory_, bytes_);
    close(fd_);
  }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  /// Orders stand as long as that process lives.
  void be_drained_by(pid_t agent) const {
    header().agent_pid.store(agent);
    header().agent_start.store(session::process_start_time(agent));
  }
  int fd() const { return fd_; }
  shm::Header& header() const { return *static_cast<shm::Header*>(memory_); }
  shm::Slot& slot(std::uint32_t index = 0) const { return shm::slot_at(memory_, index); }
  shm::TraceRoom& traces() const { return shm::traces_at(memory_); }
  wire::Event* ring(std::uint32_t index = 0) const {
    return shm::ring_at(memory_, header().slots, header().ring_events, index);
  }

  /// Takes out at most `most` events, as an agent does.
  std::vector<wire::Event> drain(std::uint32_t index = 0, std::size_t most = SIZE_MAX) const {
    return drain(slot(index), ring(index), header().ring_events, most);
  }
  /// The same of a thread of the first slot's rank.
  std::vector<wire::Event> drain_thread(std::uint32_t place) const {
    void* rings = shm::thread_rings_at(memory_, header().slots, header().ring_events, 0);
    return drain(slot().threads[place], shm::thread_ring_at(rings, header().ring_events, place),
                 shm::thread_ring_events(header().ring_events), SIZE_MAX);
  }

 private:
  static std::vector<wire::Event> drain(shm::Stream& from, const wire::Event* ring, std::uint32_t ring_events,
                                        std::size_t most) {
    std::vector<wire::Event> out;
    std::uint64_t tail = from.tail.load(std::memory_order_relaxed);
    for (const std::uint64_t head = from.head.load(std::memory_order_acquire); tail < head && out.size() < most; ++tail)
      out.push_back(ring[tail & (ring_events - 1)]);
    from.tail.store(tail, std::memory_order_release);
    return out;
  }

  std::size_t bytes_ = 0;
  int fd_ = -1;
  void* memory_ = nullptr;
};

/// A session "test" whose agent is this process, and the environment of a rank in it.
class Node : public SessionRoot, public Segment {
 public:
  explicit Node(std::uint32_t slots = 4, std::uint32_t ring_events = 1024) : Segment(slots, ring_events) {
    setenv("IDLEWAVE_SESSION", "test", 1);
    session::AgentRecord record;
    record.pid = getpid();
    record.start = session::process_start_time(record.pid);
    record.memory_fd = fd();
    if (!session::make_session_directory("test") || !session::write_agent_record("test", record)) std::abort();
  }
};

/// Runs `body` in a child process, which then ends as a program that returned the result from main. Returns the child's
/// status as from waitpid.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// "enter compute", "step 3 wait", "dropped 17 none": kind, value if there is one, phase.
inline std::string describe(const wire::Event& event) {
  static constexpr const char* kKinds[] = {"start",   "enter",   "leave",       "switch",    "step",
                                           "traffic", "threads", "delay_begin", "delay_end", "dropped",
                                           "stop",    "lost",    "bandwidth",   "partners",  "summed"};
  static constexpr const char* kPhases[] = {"none", "compute", "wait", "communicate", "delay", "noise"};
  const auto kind = static_cast<std::size_t>(event.kind);
  const auto phase = static_cast<std::size_t>(event.phase);
  std::string out = kind < std::size(kKinds) ? kKinds[kind] : "kind" + std::to_string(kind);
  if (event.value != 0 || event.kind == wire::EventKind::kStep) out += " " + std::to_string(event.value);
  return out + " " + (phase < std::size(kPhases) ? kPhases[phase] : std::to_string(phase));
}

inline std::vector<std::string> describe(const std::vector<wire::Event>& events) {
  std::vector<std::string> out;
  for (const wire::Event& event : events) out.push_back(describe(event));
  return out;
}

inline bool times_never_decrease(const std::vector<wire::Event>& events) {
  for (std::size_t i = 1; i < events.size(); ++i) {
    if (events[i].time < events[i - 1].time) return false;
  }
  return true;
}

}  // namespace idlewave::test
