#include "probe/session/agent_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
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

/// A child whose first thread ends at once; the other one ends when something can be read from `until`.
pid_t fork_without_first_thread(int until) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::thread([until] {
    char any = 0;
    _exit(read(until, &any, 1) == 1 ? 0 : 1);
  }).detach();
  syscall(SYS_exit, 0);  // What pthread_exit comes to, without going back through the frames of the test.
  abort();
}

char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  return name_end == std::string::npos ? '?' : line.at(name_end + 2);
}

TEST(ProcessStartTime, IsThatOfAProcessWhoseFirstThreadHasEnded) {
  int until[2];
  ASSERT_EQ(pipe(until), 0);
  const pid_t child = fork_without_first_thread(until[0]);
  while (state_of(child) != 'Z') usleep(1000);
  EXPECT_GE(process_start_time(child), process_start_time(getpid()));
  ASSERT_EQ(write(until[1], "", 1), 1);
  siginfo_t end{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &end, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(state_of(child), 'Z');
  EXPECT_EQ(process_start_time(child), 0U) << "a zombie is all that is left";
  waitpid(child, nullptr, 0);
  close(until[0]);
  close(until[1]);
}

}  // namespace
}  // namespace idlewave::session
