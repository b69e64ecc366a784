#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "probe/session/directory.h"
#include "probe/session/sweep.h"
#include "tests/probe/node.h"
#include "tests/session/session_folder.h"

namespace idlewave::session {
namespace {

using test::SessionRoot;

TEST(SessionOwner, KeepsItsFolderUntilItLetsGo) {
  const SessionRoot root;
  const int owner = hold_session("s");
  ASSERT_GE(owner, 0);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  close(owner);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s")) << "however young";
}

TEST(SessionOwner, MayBeSeveral) {
  const SessionRoot root;
  const int first = hold_session("s"), second = hold_session("s");
  ASSERT_GE(second, 0);
  close(first);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  close(second);
}

TEST(SessionOwner, LeavesAFolderWhenKilledThatTheNextStartRemoves) {
  const SessionRoot root;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t monitor = fork();
  if (monitor == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int owner = hold_session("s");
    (void)!write(ready[1], &owner, sizeof owner);
    pause();
  }
  int owner = -1;
  ASSERT_EQ(read(ready[0], &owner, sizeof owner), static_cast<ssize_t>(sizeof owner));
  ASSERT_GE(owner, 0);
  write_text(root.path() / "s" / "monitor.sock", "");
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  kill(monitor, SIGKILL);
  waitpid(monitor, nullptr, 0);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(SessionOwner, NeverHoldsAFolderThatIsSweptAway) {
  const SessionRoot root;
  const pid_t sweeper = fork();
  if (sweeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) sweep_dead_sessions(nullptr);
  }
  for (int i = 0; i < 2000; ++i) {
    const int owner = hold_session("s");
    EXPECT_GE(owner, 0);
    EXPECT_TRUE(fs::exists(root.path() / "s" / "owner")) << "round " << i;
    close(owner);
  }
  kill(sweeper, SIGKILL);
  waitpid(sweeper, nullptr, 0);
}

/// What somebody who was killed has left: enough that its removal takes a while.
void litter(const fs::path& folder) {
  for (int i = 0; i < 200; ++i) close(creat((folder / ("left." + std::to_string(i))).c_str(), 0600));
  write_text(folder / "monitor.sock", "");
}

TEST(SessionOwner, KeepsWhatItPutsIntoAFolderWhoseRemovalHadBegun) {
  const SessionRoot root;
  const fs::path folder = root.path() / "s";
  const pid_t sweeper = fork();
  if (sweeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) sweep_dead_sessions(nullptr);
  }
  for (int i = 0; i < 20; ++i) {
    int owner = hold_session("s");
    litter(folder);
    close(owner);
    while (fs::exists(folder / "owner")) continue;
    owner = hold_session("s");
    write_text(folder / "monitor.sock", "");
    usleep(20'000);
    for (const char* name : {"owner", "place", "monitor.sock"})
      EXPECT_TRUE(fs::exists(fs::symlink_status(folder / name))) << name << ", round " << i;
    close(owner);
  }
  kill(sweeper, SIGKILL);
  waitpid(sweeper, nullptr, 0);
}

TEST(SessionOwner, KeepsItsFolderWhenAnotherOneRemovesTheSession) {
  const SessionRoot root;
  const int first = hold_session("s"), second = hold_session("s");
  close(first);
  remove_session_directory("s");
  EXPECT_TRUE(fs::exists(root.path() / "s" / "owner"));
  close(second);
  remove_session_directory("s");
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(SessionOwner, IsRefusedWhereNoFolderCanBeMade) {
  const SessionRoot root;
  setenv("IDLEWAVE_DIR", (root.path() / "gone" / "deeper").c_str(), 1);
  EXPECT_EQ(hold_session("s"), -1);
}

TEST(MonitorsPlace, IsForOneAtATimeAndFreeAgainAfterwards) {
  const SessionRoot root;
  const int owner = hold_session("s");
  const int first = take_monitors_place("s");
  EXPECT_GE(first, 0);
  EXPECT_EQ(take_monitors_place("s"), -1);
  close(first);
  const int next = take_monitors_place("s");
  EXPECT_GE(next, 0);
  close(next);
  close(owner);
}

}  // namespace
}  // namespace idlewave::session
