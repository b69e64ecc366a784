// What an agent left that was killed with all its ranks, told by another one that was handed the memory.

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <cstring>
#include <random>

#include "probe/agent/segment.h"
#include "tests/agent/stage.h"
#include "tests/any_seed.h"

namespace idlewave::test {
namespace {

int memory_of(const AgentProcess& agent) {
  session::AgentRecord record;
  EXPECT_TRUE(session::read_agent_record("play", record) && record.pid == agent.pid());
  return open(("/proc/" + std::to_string(record.pid) + "/fd/" + std::to_string(record.memory_fd)).c_str(),
              O_RDWR | O_CLOEXEC);
}

/// Tells what is in `memory`, to whoever listens at `endpoint`.
class Teller : public Process {
 public:
  Teller(int memory, const std::string& endpoint)
      : Process({"/bin/sh", "-c",
                 "exec " IDLEWAVE_AGENT_PROGRAM " --session play --left-by n1 --connect " + endpoint + " <>/proc/" +
                     std::to_string(getpid()) + "/fd/" + std::to_string(memory)}) {}
};

void end_at_once(std::initializer_list<Process*> processes) {
  for (Process* each : processes) each->kill(SIGKILL);
  for (Process* each : processes) EXPECT_EQ(each->exit_code(), -1);
}

TEST(LeftBehind, IsToldByWhoHasTheMemory) {
  const SessionRoot root;
  const std::string endpoint = "ipc://" + (root.folder() / "monitor.sock").string();
  AgentProcess agent;
  const int memory = memory_of(agent);
  PlayedRank stops("stay", 0, 3);
  agent.kill(SIGSTOP);
  stops.leave();
  PlayedRank counts("count", 1, 3, {"1000", "1"}), came_again("count", 1, 3, {"1010", "1"});
  counts.wait_until_done();
  came_again.wait_until_done();
  end_at_once({&counts, &came_again, &agent});
  Monitor monitor(endpoint);
  Teller teller(memory, endpoint);
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(teller.exit_code(), 0);
  ASSERT_TRUE(monitor.roster().taken_over);
  EXPECT_EQ(monitor.roster().taken_over->agent_pid, agent.pid());
  EXPECT_EQ(numbers_of(monitor.lane(1)).size(), 2010u);
  EXPECT_EQ(monitor.count(0, EventKind::kStop), 1u);
  EXPECT_EQ(monitor.count(1, EventKind::kLost), 2u);
  EXPECT_EQ(monitor.count(1, EventKind::kDropped), 0u);
  close(memory);
}

TEST(LeftBehind, IsNothingWhereTheAgentHadSaidItsEnd) {
  const SessionRoot root;
  AgentProcess agent;
  const int memory = memory_of(agent);
  PlayedRank("stay", 0, 1).leave();
  ASSERT_EQ(agent.exit_code(), 0);
  EXPECT_EQ(Teller(memory, "ipc:///nowhere").exit_code(), 0) << "it connects to nobody";
  close(memory);
}

/// Sealed as an agent's memory is, or not.
int file_of(std::size_t bytes, int seals) {
  const int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(fd, off_t(bytes)), 0);
  EXPECT_EQ(fcntl(fd, F_ADD_SEALS, seals), 0);
  return fd;
}

TEST(LeftBehind, IsNotTakenFromAFileThatIsNoMemoryOfAnAgent) {
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  for (const int fd :
       {file_of(1 << 20, kSeals), file_of(8, kSeals), file_of(1 << 20, F_SEAL_GROW), open("/dev/null", O_RDWR)}) {
    EXPECT_FALSE(agent::Segment::take(dup(fd)));
    close(fd);
  }
}

TEST(LeftBehind, IsNotTakenWhereItsHeaderSaysMoreThanItsSize) {
  auto made = agent::Segment::make(2, 64, {});
  ASSERT_TRUE(made);
  shm::Header& header = (*made)->header();
  const int fd = (*made)->fd();
  EXPECT_TRUE(agent::Segment::take(dup(fd)));
  for (const std::uint32_t slots : {0u, 3u, 1u << 31}) {
    header.slots = slots;
    EXPECT_FALSE(agent::Segment::take(dup(fd))) << slots;
  }
  header.slots = 2;
  for (const std::uint32_t events : {0u, 4u, 65u, 1u << 14, 1u << 31}) {
    header.ring_events = events;
    EXPECT_FALSE(agent::Segment::take(dup(fd))) << events;
  }
}

/// As ranks may write there what they like.
TEST(LeftBehind, MayBeAnything) {
  const SessionRoot root;
  std::mt19937_64 random(any_seed());
  for (int round = 0; round < 8; ++round) {
    auto made = agent::Segment::make(3, 64, {});
    ASSERT_TRUE(made);
    auto* const bytes = reinterpret_cast<std::uint64_t*>(&(*made)->header());
    const std::size_t words = shm::segment_bytes(3, 64) / sizeof *bytes, kept = sizeof(shm::Header) / sizeof *bytes;
    for (std::size_t n = random() % (4 * words); n > 0; --n)
      bytes[kept + random() % (words - kept)] = random() >> (random() % 64);
    (*made)->header().open = 1;
    (*made)->header().slots_used = std::uint32_t(random());
    (*made)->header().agent_pid = std::int32_t(random());
    (*made)->header().last_frame = random();
    for (std::uint32_t i = 0; i < 3; ++i) (*made)->slot(i).state = shm::SlotState(random() % 5);
    const std::string endpoint = "ipc://" + root.folder("monitor" + std::to_string(round)).string();
    Monitor monitor(endpoint);
    Teller teller((*made)->fd(), endpoint);
    EXPECT_TRUE(monitor.until([&] { return !teller.running(); }));
    EXPECT_EQ(teller.exit_code(), 0) << "round " << round;
    EXPECT_TRUE(monitor.until_end()) << "round " << round;
  }
}

}  // namespace
}  // namespace idlewave::test
