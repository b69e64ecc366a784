// The calls of probe.h as a program sees them. Each program is a process of its own, since a process is one rank, once;
// the agent of its session is the test.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <idlewave/probe.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/probe/node.h"
#include "tests/sanitized.h"

namespace idlewave::client {
namespace {

using test::describe;
using test::in_child;
using test::Node;
using test::SessionRoot;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using tests::kSanitized;

/// What a shell command prints; empty if it fails.
std::string output_of(const std::string& command) {
  std::array<char, 4096> text{};
  FILE* pipe = popen(command.c_str(), "r");
  const std::size_t length = fread(text.data(), 1, text.size() - 1, pipe);
  return pclose(pipe) == 0 ? std::string(text.data(), length) : std::string();
}

/// Flags of a pattern, then those it receives from and sends to.
std::vector<int> said_partners(const shm::PartnerBook& book, int pattern) {
  const shm::PartnerBook::Pattern& said = book.patterns[pattern];
  std::vector<int> words{static_cast<int>(said.flags)};
  words.insert(words.end(), book.ranks + said.first, book.ranks + said.first + said.sources + said.targets);
  return words;
}

TEST(Probe, ReportsWhatACProgramSays) {
  const Node node;
  EXPECT_EQ(output_of(EVERY_CALL_PROGRAM), "1 8 1\n");
  EXPECT_THAT(describe(node.drain()),
              ElementsAre("start none", "step 0 none", "enter compute", "traffic 64 compute", "threads 2 compute",
                          "switch wait", "enter 8", "leave wait", "leave none", "enter none", "switch delay",
                          "leave none", "partners 1 none", "stop none"));
}

/// Receiver, messages, bytes.
std::vector<std::array<std::uint64_t, 3>> said_messages(const shm::CallBook& book) {
  std::vector<std::array<std::uint64_t, 3>> said;
  for (const shm::CallBook::Pair& pair : book.pair)
    if (pair.taken_by > 0) said.push_back({std::uint64_t(pair.taken_by - 1), pair.messages, pair.bytes});
  return said;
}

TEST(Probe, DescribesItsRank) {
  const Node node;
  output_of(EVERY_CALL_PROGRAM);
  const shm::Slot& slot = node.slot();
  EXPECT_EQ(slot.state.load(), shm::SlotState::kStopped);
  EXPECT_EQ(slot.rank, 3);
  EXPECT_EQ(slot.world_size, 8);
  EXPECT_EQ(slot.domain.load(), 2);
  EXPECT_EQ(slot.domain_virtual.load(), 1u);
  EXPECT_EQ(slot.core_bandwidth.load(), 10e9);
  EXPECT_EQ(slot.saturated_bandwidth.load(), 50e9);
  EXPECT_EQ(slot.curve_points.load(), 3u);
  EXPECT_EQ(slot.curve[2].load(), 27e9);
  EXPECT_EQ(slot.domain_bytes.load(), 12345u);
  EXPECT_GT(slot.domain_bytes_at.load(), 0);
  EXPECT_STREQ(slot.user_phases[8].name, "halo exchange");
  EXPECT_EQ(slot.user_phases[8].category, static_cast<std::uint32_t>(IDLEWAVE_COMMUNICATE));
  EXPECT_THAT(slot.command_line, StartsWith(EVERY_CALL_PROGRAM));
  EXPECT_THAT(said_partners(slot.partners, 5), ElementsAre(IDLEWAVE_RENDEZVOUS, 2, -1, 4));
  EXPECT_THAT(said_partners(slot.partners, 6), ElementsAre(IDLEWAVE_COLLECTIVE));
  EXPECT_EQ(slot.partners.followed.load(), 1u);
  EXPECT_THAT(said_messages(slot.calls), ElementsAre(std::array<std::uint64_t, 3>{4, 2, 1024}));
  EXPECT_EQ(slot.calls.other_messages.load(), 0u) << "one to MPI_PROC_NULL is none";
}

TEST(Probe, IsOffAndSaysWhyWhereAnMpiDoesNotUnderstandItsLauncher) {
  const Node node;
  EXPECT_EQ(in_child([] {
              setenv("PMI_SIZE", "4", 1);
              return idlewave_start(0, 1);
            }),
            0);
  std::ifstream log(node.path() / "test" / "trouble.log");
  const std::string said{std::istreambuf_iterator<char>(log), {}};
  EXPECT_THAT(said, testing::HasSubstr("it is rank 0 of 1, while its launcher has started 4 processes"));
}

#ifdef EVERY_CALL_FORTRAN_PROGRAM
TEST(Probe, ReportsWhatAFortranProgramSays) {
  const Node node;
  EXPECT_NE(output_of(EVERY_CALL_FORTRAN_PROGRAM), "");
  EXPECT_THAT(describe(node.drain()),
              ElementsAre("start none", "step 0 none", "enter compute", "traffic 64 compute", "threads 2 compute",
                          "switch wait", "enter 8", "leave wait", "leave none", "partners 1 none", "stop none"));
  EXPECT_THAT(said_partners(node.slot().partners, 5), ElementsAre(IDLEWAVE_RENDEZVOUS, 2, -1, 4));
  EXPECT_THAT(said_partners(node.slot().partners, 6), ElementsAre(IDLEWAVE_COLLECTIVE));
  EXPECT_STREQ(node.slot().user_phases[8].name, "halo exchange");
  EXPECT_EQ(node.slot().domain.load(), 2);
  EXPECT_THAT(said_messages(node.slot().calls), ElementsAre(std::array<std::uint64_t, 3>{4, 2, 1024}));
}
#endif

TEST(Probe, IsOffWithoutASession) {
  const Node node;
  unsetenv("IDLEWAVE_SESSION");
  EXPECT_EQ(output_of(EVERY_CALL_PROGRAM), "0 3 0\n");
  EXPECT_EQ(node.slot().state.load(), shm::SlotState::kFree);
}

TEST(Probe, IsOffWhenDisabled) {
  const Node node;
  setenv("IDLEWAVE_DISABLE", "1", 1);
  EXPECT_EQ(output_of(EVERY_CALL_PROGRAM), "0 3 0\n");
}

TEST(Probe, IsOffWhenTheSessionsNameIsBad) {
  const Node node;
  setenv("IDLEWAVE_SESSION", "../test", 1);
  EXPECT_EQ(output_of(EVERY_CALL_PROGRAM), "0 3 0\n");
}

TEST(Probe, IsOffForARankOutsideOfItsWorld) {
  const Node node;
  EXPECT_EQ(in_child([] { return idlewave_start(4, 4) + idlewave_start(0, 4); }), 0)
      << "a second start changes nothing";
  EXPECT_EQ(in_child([] { return idlewave_start(-1, 4); }), 0);
}

TEST(Probe, StopsByItselfAtExit) {
  const Node node;
  in_child([] { return idlewave_start(0, 1) - 1; });
  EXPECT_THAT(describe(node.drain()), ElementsAre("start none", "stop none"));
}

TEST(Probe, SaysNothingAfterItsStop) {
  const Node node;
  const int status = in_child([] {
    idlewave_start(0, 1);
    idlewave_stop();
    idlewave_begin_(IDLEWAVE_COMPUTE);
    idlewave_stop();
    return idlewave_is_on_ + idlewave_start(0, 1) + (idlewave_now() > 0);
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(describe(node.drain()), ElementsAre("start none", "stop none"));
}

TEST(Probe, IsSilentInAForkedChild) {
  const Node node;
  in_child([] {
    idlewave_start(0, 1);
    in_child([] {
      idlewave_begin(IDLEWAVE_COMPUTE);
      idlewave_begin_(IDLEWAVE_COMPUTE);
      return 0;
    });
    idlewave_step(1);
    return 0;
  });
  EXPECT_THAT(describe(node.drain()), ElementsAre("start none", "step 1 none", "stop none"));
}

TEST(Probe, KeepsItsHostsErrno) {
  const Node node;
  const int status = in_child([] {
    errno = 77;
    idlewave_start(0, 1);
    const int after_start = errno;
    idlewave_stop();
    return after_start == 77 && errno == 77 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(Probe, LeavesNoFileOpen) {
  const Node node;
  const int status = in_child([] {
    const int next = dup(0);
    close(next);
    idlewave_start(0, 1);
    const int after = dup(0);
    return after == next ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(Probe, GivesEachRankASlotOfItsOwn) {
  const Node node(3);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(in_child([rank] { return idlewave_start(rank, 4) - 1; }), 0);
  }
  EXPECT_EQ(in_child([] { return idlewave_start(3, 4); }), 0) << "no room: off";
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(node.slot(rank).rank, rank);
}

TEST(Probe, LeavesAClosedDoorForTheNextAgent) {
  const Node node;
  node.header().open.store(0);
  setenv("IDLEWAVE_AGENT", "/bin/false", 1);
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1); }), 0);
  session::AgentRecord record;
  EXPECT_FALSE(session::read_agent_record("test", record)) << "makes room for a new agent";
  EXPECT_EQ(node.slot().state.load(), shm::SlotState::kFree);
}

TEST(Probe, WaitsForADoorThatIsAboutToOpen) {
  const Node node;
  node.header().open.store(0);
  const pid_t child = fork();
  if (child == 0) exit(idlewave_start(0, 1) - 1);
  usleep(50'000);
  node.header().open.store(1);
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Probe, RefusesMemoryThatIsNotAnAgents) {
  const auto start_on = [](auto spoil) {
    const Node node;
    spoil(node.header());
    return in_child([] { return idlewave_start(0, 1); });
  };
  EXPECT_NE(start_on([](shm::Header&) {}), 0) << "unspoilt it works";
  EXPECT_EQ(start_on([](shm::Header& header) { header.magic ^= 1; }), 0);
  EXPECT_EQ(start_on([](shm::Header& header) { header.version = 99; }), 0);
  EXPECT_EQ(start_on([](shm::Header& header) { header.slots = 0; }), 0);
  EXPECT_EQ(start_on([](shm::Header& header) { header.slots = UINT32_MAX; }), 0);
  EXPECT_EQ(start_on([](shm::Header& header) { header.slots = 1000; }), 0) << "more than there is memory";
  EXPECT_EQ(start_on([](shm::Header& header) { header.ring_events = 1000; }), 0) << "no power of two";
  EXPECT_EQ(start_on([](shm::Header& header) { header.ring_events = 0; }), 0);
}

TEST(Probe, RefusesARecordThatNamesAnotherFile) {
  const Node node;
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("test", record));
  record.memory_fd = 0;
  ASSERT_TRUE(session::write_agent_record("test", record));
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1); }), 0);
}

TEST(Probe, TakesAnUnknownPhaseForNone) {
  const Node node;
  in_child([] {
    idlewave_start(0, 1);
    for (const int phase : {-1, 5, 7, 8, 63, 64, 1 << 30}) {
      idlewave_begin(phase);
      idlewave_end();
    }
    return 0;
  });
  const std::vector<std::string> told = describe(node.drain());
  ASSERT_EQ(told.size(), 2u + 14u);
  for (std::size_t i = 1; i + 1 < told.size(); ++i) EXPECT_EQ(told[i], i % 2 == 1 ? "enter none" : "leave none");
}

TEST(Probe, IgnoresANegativeStepAndNegativeThreads) {
  const Node node;
  in_child([] {
    idlewave_start(0, 1);
    idlewave_step(-1);
    idlewave_threads(-5);
    return 0;
  });
  EXPECT_THAT(describe(node.drain()), ElementsAre("start none", "threads none", "stop none"));
}

TEST(UserPhase, HasOneValueForOneName) {
  const Node node;
  const int status = in_child([] {
    idlewave_start(0, 1);
    const int first = idlewave_define_phase("pack", IDLEWAVE_COMPUTE);
    const int second = idlewave_define_phase("unpack", IDLEWAVE_COMPUTE);
    return first == 8 && second == 9 && idlewave_define_phase("pack", IDLEWAVE_WAIT) == first ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(node.slot().user_phases[10].category, 0u);
}

TEST(UserPhase, IsItsCategoryWhenThereIsNoRoomOrNoSense) {
  const Node node;
  const int status = in_child([] {
    idlewave_start(0, 1);
    for (int i = 0; i < 56; ++i) {
      if (idlewave_define_phase(("phase " + std::to_string(i)).c_str(), IDLEWAVE_WAIT) != 8 + i) return 1;
    }
    if (idlewave_define_phase("one more", IDLEWAVE_WAIT) != IDLEWAVE_WAIT) return 2;
    if (idlewave_define_phase(nullptr, IDLEWAVE_COMPUTE) != IDLEWAVE_COMPUTE) return 3;
    if (idlewave_define_phase("", IDLEWAVE_COMPUTE) != IDLEWAVE_COMPUTE) return 4;
    return idlewave_define_phase("bad", 99) == 99 ? 0 : 5;
  });
  EXPECT_EQ(status, 0);
}

TEST(UserPhase, NameIsCutBetweenCharacters) {
  const Node node;
  in_child([] {
    idlewave_start(0, 1);
    idlewave_define_phase(std::string(31, 'x').c_str(), IDLEWAVE_COMPUTE);
    idlewave_define_phase(std::string(99, 'y').c_str(), IDLEWAVE_COMPUTE);
    idlewave_define_phase((std::string(30, 'z') + "\xc3\xa4").c_str(), IDLEWAVE_COMPUTE);
    return 0;
  });
  EXPECT_STREQ(node.slot().user_phases[8].name, std::string(31, 'x').c_str());
  EXPECT_STREQ(node.slot().user_phases[9].name, std::string(31, 'y').c_str());
  EXPECT_STREQ(node.slot().user_phases[10].name, std::string(30, 'z').c_str());
}

/// From here on any system call but the end of the process kills it.
bool forbid_system_calls() {
  std::array<sock_filter, 5> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{program.size(), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

void report_a_step(int number, int phase) {
  idlewave_step(number);
  idlewave_begin(IDLEWAVE_COMPUTE);
  idlewave_traffic(64);
  idlewave_threads(2);
  idlewave_switch(IDLEWAVE_WAIT);
  idlewave_begin(phase);
  idlewave_end();
  idlewave_end();
  idlewave_domain_bytes(1);
  idlewave_set_domain(number, 0, 0, 0);
}

TEST(Probe, MakesNoSystemCallAfterItsStart) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer makes its own";
  const Node node;
  const int status = in_child([&node]() -> int {
    idlewave_start(0, 1);
    shm::set_noise(node.slot(), {1, 9, 0, 10, 0, 1});
    if (!forbid_system_calls()) _exit(1);
    idlewave_define_phase("late", IDLEWAVE_COMPUTE);
    for (int step = 0; step < 20'000; ++step) report_a_step(step, 8);
    _exit(idlewave_now() > 0 ? 0 : 2);
  });
  EXPECT_EQ(status, 0);
  EXPECT_GT(node.slot().dropped.load(), 0u) << "also with a full ring";
}

TEST(SharedProbe, NeedsNothingButTheCLibrary) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer brings its own";
  const std::string needed = output_of(
      READELF_PROGRAM " -d " PROBE_LIBRARY " | sed -n 's/.*NEEDED.*\\[\\(.*\\)\\]/\\1/p' | sort | tr '\\n' ' '");
  EXPECT_EQ(needed, "libc.so.6 libm.so.6 ");
}

TEST(SharedProbe, ShowsNothingButItsCalls) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer adds its own";
  const std::string others =
      output_of(NM_PROGRAM " -D --defined-only " PROBE_LIBRARY " | grep -v ' idlewave_[a-z_]*$' ; true");
  EXPECT_EQ(others, "");
}

}  // namespace
}  // namespace idlewave::client
