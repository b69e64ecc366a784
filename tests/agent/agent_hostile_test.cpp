// What a rank may do to the memory that it shares with the agent: anything. The agent goes on for the others.

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <random>

#include "probe/shm/layout.h"
#include "tests/agent/stage.h"
#include "tests/any_seed.h"

namespace idlewave::test {
namespace {

/// The agent's memory, opened as a rank opens it.
class SharedMemory {
 public:
  explicit SharedMemory(const session::AgentRecord& agent) {
    const std::string path = "/proc/" + std::to_string(agent.pid) + "/fd/" + std::to_string(agent.memory_fd);
    fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
    struct stat status {};
    if (fd_ < 0 || fstat(fd_, &status) != 0) std::abort();
    bytes_ = std::size_t(status.st_size);
    memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    if (memory_ == MAP_FAILED) std::abort();
  }
  ~SharedMemory() {
    munmap(memory_, bytes_);
    close(fd_);
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  int fd() const { return fd_; }
  std::size_t bytes() const { return bytes_; }
  shm::Header& header() const { return *static_cast<shm::Header*>(memory_); }
  shm::Slot& slot(std::uint32_t index) const { return shm::slot_at(memory_, index); }
  std::byte* ring(std::uint32_t index) const {
    return reinterpret_cast<std::byte*>(shm::ring_at(memory_, kSlots, kRingEvents, index));
  }

  static constexpr std::uint32_t kSlots = 8;
  static constexpr std::uint32_t kRingEvents = 64;

 private:
  int fd_ = -1;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};

AgentProcess small_agent() {
  return AgentProcess(
      {"--slots", std::to_string(SharedMemory::kSlots), "--ring-events", std::to_string(SharedMemory::kRingEvents)});
}

session::AgentRecord record_of_play() {
  session::AgentRecord record;
  EXPECT_TRUE(session::read_agent_record("play", record));
  return record;
}

TEST(HostileRank, CannotCutTheMemoryShort) {
  const SessionRoot root;
  AgentProcess agent = small_agent();
  Monitor monitor;
  PlayedRank rank("stay", 0, 1);
  const SharedMemory memory(record_of_play());
  EXPECT_EQ(ftruncate(memory.fd(), 0), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(memory.fd(), off_t(2 * memory.bytes())), -1);
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
  EXPECT_EQ(agent.exit_code(), 0);
}

/// Slot `index` as a rank fills it in, but for `spoil`.
template <class Spoil>
void join_as(const SharedMemory& memory, std::uint32_t index, Rank rank, Spoil spoil) {
  shm::Slot& slot = memory.slot(index);
  slot.pid = getpid();
  slot.process_start = session::process_start_time(getpid());
  slot.rank = rank;
  slot.world_size = 8;
  spoil(slot);
  slot.revision.fetch_add(1);
  slot.state.store(shm::SlotState::kLive);
}

/// Takes slot `index` and fills in no more of it than who takes it; 0: not even that.
void claim_as(const SharedMemory& memory, std::uint32_t index, pid_t pid) {
  memory.slot(index).state.store(shm::SlotState::kClaimed);
  std::atomic_ref(memory.slot(index).pid).store(pid);
}

pid_t process_that_has_ended() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(DyingRank, GivesItsSlotBackWhereItDiedWhileItJoined) {
  const SessionRoot root;
  AgentProcess agent = small_agent();
  Monitor monitor;
  PlayedRank rank("stay", 0, 1);
  const SharedMemory memory(record_of_play());
  claim_as(memory, 1, 0);  // An agent waits a long time for one that has not said who it is.
  claim_as(memory, 2, getpid());
  claim_as(memory, 3, process_that_has_ended());
  ASSERT_TRUE(eventually([&] { return memory.slot(3).state.load() == shm::SlotState::kFree; }));
  EXPECT_EQ(memory.slot(1).state.load(), shm::SlotState::kClaimed);
  EXPECT_EQ(memory.slot(2).state.load(), shm::SlotState::kClaimed);
  for (const std::uint32_t index : {1, 2}) memory.slot(index).state.store(shm::SlotState::kFree);
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
  EXPECT_EQ(agent.exit_code(), 0);
}

TEST(HostileRank, MayNameAnyDomainBandwidthAndPhase) {
  const SessionRoot root;
  AgentProcess agent = small_agent();
  Monitor monitor;
  PlayedRank honest("step", 0, 8);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  const SharedMemory memory(record_of_play());
  join_as(memory, 1, 5, [](shm::Slot& slot) {
    slot.domain = 2'000'000'000;
    slot.domain_virtual = 77;
    slot.core_bandwidth = std::numeric_limits<double>::infinity();
    slot.saturated_bandwidth = std::numeric_limits<double>::quiet_NaN();
    slot.curve_points = 1'000'000;
    slot.domain_bytes = ~std::uint64_t{0};
    slot.domain_bytes_at = ~std::int64_t{0};
    std::memset(slot.command_line, 0xff, sizeof slot.command_line);
    std::memset(static_cast<void*>(slot.user_phases), 0xff, sizeof slot.user_phases);
  });
  ASSERT_TRUE(monitor.until([&] { return monitor.roster().ranks.size() == 2; }));
  ASSERT_TRUE(monitor.until([&] { return !monitor.roster().domains.empty(); }));
  EXPECT_EQ(monitor.roster().domains.back().core_bandwidth, 0);
  EXPECT_EQ(monitor.roster().domains.back().saturated_bandwidth, 0);
  EXPECT_TRUE(monitor.roster().domains.back().curve.empty());
}

TEST(HostileRank, MayDrawAnyCurve) {
  const SessionRoot root;
  AgentProcess agent = small_agent();
  Monitor monitor;
  PlayedRank honest("step", 0, 8);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  const SharedMemory memory(record_of_play());
  join_as(memory, 1, 5, [](shm::Slot& slot) {
    slot.domain = 7;
    slot.domain_virtual = 1;
    slot.core_bandwidth = 10e9;
    slot.curve_points = 2;
    slot.curve[0] = 10e9;
    slot.curve[1] = std::numeric_limits<double>::quiet_NaN();
  });
  ASSERT_TRUE(monitor.until([&] { return !monitor.roster().domains.empty(); }));
  EXPECT_EQ(monitor.roster().domains.back().core_bandwidth, 10e9);
  EXPECT_TRUE(monitor.roster().domains.back().curve.empty());
}

TEST(HostileRank, MayEraseTheHeader) {
  const SessionRoot root;
  AgentProcess agent = small_agent();
  Monitor monitor;
  PlayedRank rank("step", 0, 1);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  const SharedMemory memory(record_of_play());
  std::memset(static_cast<void*>(&memory.header()), 0, sizeof(shm::Header));
  const std::size_t steps = monitor.count(0, EventKind::kStep);
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStep) > steps + 50; }));
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
}

TEST(HostileRank, MayWriteAnythingAnywhere) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  const SessionRoot root;
  AgentProcess agent = small_agent();
  Monitor monitor;
  const SharedMemory memory(record_of_play());
  const auto scribble = [&](std::byte* from, std::size_t bytes) {
    for (int i = int(random() % 64); i >= 0; --i) from[random() % bytes] = std::byte(random());
  };
  std::size_t frames = monitor.frames();
  for (int round = 0; round < 3000; ++round) {
    const auto index = std::uint32_t(random() % SharedMemory::kSlots);
    shm::Slot& slot = memory.slot(index);
    if (random() % 4 == 0) join_as(memory, index, Rank(random() % 8), [](shm::Slot&) {});
    if (random() % 8 == 0) slot.state.store(shm::SlotState(random() % 6));
    if (random() % 8 == 0) slot.head.fetch_add(random() % 100);
    if (random() % 2 == 0) scribble(reinterpret_cast<std::byte*>(&slot), sizeof slot);
    scribble(memory.ring(index), SharedMemory::kRingEvents * sizeof(Event));
    if (random() % 4 == 0) scribble(reinterpret_cast<std::byte*>(&memory.header()), sizeof(shm::Header));
    if (round % 20 != 0) continue;
    ASSERT_TRUE(monitor.until([&] { return monitor.frames() > frames; })) << "round " << round;
    frames = monitor.frames();
  }
  ASSERT_TRUE(agent.running());
  agent.kill(SIGTERM);
  EXPECT_TRUE(monitor.until_end());
  EXPECT_EQ(agent.exit_code(), 0);
}

}  // namespace
}  // namespace idlewave::test
