#include "probe/session/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
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
using testing::ElementsAre;

class Listener {
 public:
  explicit Listener(const fs::path& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path.c_str());
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd_, 1) != 0) std::abort();
  }
  ~Listener() { close(fd_); }

 private:
  int fd_;
};

TEST(Sweep, RemovesASessionWhoseAgentDied) {
  const SessionRoot root;
  make_session("dead", record_of_the_dead());
  write_text(root.path() / "dead" / "agent.sock", "");
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "dead"));
}

TEST(Sweep, SparesTheLivingAndTheOneToKeep) {
  const SessionRoot root;
  make_session("alive", record_of(getpid()));
  make_session("kept", record_of_the_dead());
  sweep_dead_sessions("kept");
  EXPECT_TRUE(fs::exists(root.path() / "alive"));
  EXPECT_TRUE(fs::exists(root.path() / "kept"));
}

TEST(Sweep, SparesASessionThatIsBeingStarted) {
  const SessionRoot root;
  make_session("locked", record_of_the_dead());
  const int lock = lock_session("locked", 0);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "locked"));
  close(lock);
}

TEST(Sweep, SparesAMonitorThatWaitsForItsAgent) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  const Listener monitor(root.path() / "s" / "monitor.sock");
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
}

TEST(Sweep, SparesAFolderThatWasJustMade) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("young"));
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "young"));
}

TEST(Sweep, RemovesAnOldFolderThatNeverHadAnAgent) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("old"));
  fs::last_write_time(root.path() / "old", fs::file_time_type::clock::now() - std::chrono::hours(1));
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "old"));
}

TEST(Sweep, LeavesAloneWhatIsNoSession) {
  const SessionRoot root;
  write_text(root.path() / "file", "text");
  fs::create_directory(root.path() / ".hidden");
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "file"));
  EXPECT_TRUE(fs::exists(root.path() / ".hidden"));
}

TEST(Sweep, RemovesTheFolderOfAKilledAgent) {
  const SessionRoot root;
  const pid_t agent = fork();
  if (agent == 0) pause();
  make_session("s", record_of(agent));
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(LiveSessions, AreThoseWithALivingAgent) {
  const SessionRoot root;
  make_session("alive", record_of(getpid()));
  make_session("dead", record_of_the_dead());
  std::vector<std::string> found;
  for_each_live_session([](const char* session, const AgentRecord&,
                           void* names) { static_cast<std::vector<std::string>*>(names)->push_back(session); },
                        &found);
  EXPECT_THAT(found, ElementsAre("alive"));
}

}  // namespace
}  // namespace idlewave::session
