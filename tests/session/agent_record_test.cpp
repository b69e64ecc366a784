#include "probe/session/agent_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "probe/session/directory.h"
#include "tests/probe/node.h"
#include "tests/session/session_folder.h"

namespace idlewave::session {
namespace {

using test::SessionRoot;

TEST(AgentRecord, ComesBackAsItWasWritten) {
  const SessionRoot root;
  const AgentRecord written = record_of(getpid());
  make_session("s", written);
  AgentRecord read;
  ASSERT_TRUE(read_agent_record("s", read));
  EXPECT_EQ(read.pid, written.pid);
  EXPECT_EQ(read.start, written.start);
  EXPECT_EQ(read.memory_fd, written.memory_fd);
  EXPECT_STREQ(read.endpoint, written.endpoint);
}

TEST(AgentRecord, LeavesNoDraftBehind) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root.path() / "s")) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("agent", "place"));
}

TEST(AgentRecord, IsNotReadWhenDamaged) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  for (const char* text : {"", "pid 12\n", "pid 12\nstart 34\nmemory 5", "pid x\nstart 34\nmemory 5\n",
                           "pid -1\nstart 34\nmemory 5\n", "pid\n", "pid 12\nstart 0\nmemory 5\n",
                           "pid 12\nstart 34\nmemory -5\n", "pid 99999999999\nstart 34\nmemory 5\n", "\n\n\n"}) {
    write_text(root.path() / "s" / "agent", text);
    AgentRecord read;
    EXPECT_FALSE(read_agent_record("s", read)) << text;
  }
  write_text(root.path() / "s" / "agent", std::string(100'000, 'x') + "\n");
  AgentRecord read;
  EXPECT_FALSE(read_agent_record("s", read)) << "a large file";
}

TEST(AgentRecord, MayHoldKeysOfALaterVersion) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  write_text(root.path() / "s" / "agent", "pid 12\ncolour blue\nstart 34\nmemory 5\nendpoint \n");
  AgentRecord read;
  EXPECT_TRUE(read_agent_record("s", read));
}

TEST(AgentRecord, OfALivingProcessIsAlive) { EXPECT_TRUE(is_alive(record_of(getpid()))); }

TEST(AgentRecord, WithAReusedPidIsNotAlive) { EXPECT_FALSE(is_alive(record_of_the_dead())); }

TEST(AgentRecord, OfAZombieIsNotAlive) {
  const pid_t child = fork();
  if (child == 0) pause();
  const AgentRecord record = record_of(child);
  EXPECT_TRUE(is_alive(record));
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_alive(record));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_alive(record));
}

TEST(AgentRecord, IsRemovedOnlyByItsOwner) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  remove_agent_record("s", record_of_the_dead());
  EXPECT_TRUE(fs::exists(root.path() / "s" / "agent"));
  remove_agent_record("s", record_of(getpid()));
  EXPECT_FALSE(fs::exists(root.path() / "s" / "agent"));
}

TEST(ProcessStartTime, SurvivesABracketInTheProgramsName) {
  const SessionRoot root;
  const fs::path program = root.path() / "a) Z 1 (b";
  fs::copy_file("/bin/sleep", program);
  const pid_t child = fork();
  if (child == 0) {
    execl(program.c_str(), "sleep", "60", nullptr);
    _exit(127);
  }
  while (fs::read_symlink("/proc/" + std::to_string(child) + "/exe") != program) usleep(1000);
  const std::uint64_t own = process_start_time(getpid());
  const std::uint64_t theirs = process_start_time(child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(theirs, own);
}

}  // namespace
}  // namespace idlewave::session
