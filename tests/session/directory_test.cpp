#include "probe/session/directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "probe/session/sweep.h"
#include "tests/probe/node.h"
#include "tests/session/session_folder.h"

namespace idlewave::session {
namespace {

using test::SessionRoot;

TEST(SessionName, TakesLettersDigitsAndThreeSigns) {
  for (const char* name : {"a", "Run-7_b.2", "0"}) EXPECT_TRUE(valid_session_name(name)) << name;
  EXPECT_TRUE(valid_session_name(std::string(48, 'x').c_str()));
}

TEST(SessionName, RefusesWhatCouldLeaveTheFolder) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n", "\xc3\xa4", "a;b"}) {
    EXPECT_FALSE(valid_session_name(name)) << name;
  }
  EXPECT_FALSE(valid_session_name(nullptr));
  EXPECT_FALSE(valid_session_name(std::string(49, 'x').c_str()));
}

TEST(SessionDirectory, IsMadeForItsUserAlone) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  EXPECT_EQ(fs::status(root.path() / "s").permissions(), fs::perms::owner_all);
  EXPECT_TRUE(make_session_directory("s")) << "a second time";
}

TEST(SessionDirectory, IsRefusedInARootThatOthersCanWrite) {
  const SessionRoot root;
  fs::permissions(root.path(), fs::perms::all);
  EXPECT_FALSE(make_session_directory("s"));
}

TEST(SessionDirectory, IsRefusedInARootOfAnotherUser) {
  const SessionRoot root;
  if (geteuid() != 0) {
    setenv("IDLEWAVE_DIR", "/usr", 1);
  } else {
    ASSERT_EQ(chown(root.path().c_str(), 12345, 12345), 0);
  }
  EXPECT_FALSE(make_session_directory("s"));
}

TEST(SessionDirectory, IsRefusedThroughALink) {
  const SessionRoot root;
  fs::create_directory(root.path() / "real");
  fs::create_directory_symlink(root.path() / "real", root.path() / "link");
  setenv("IDLEWAVE_DIR", (root.path() / "link").c_str(), 1);
  EXPECT_FALSE(make_session_directory("s"));
}

TEST(SessionDirectory, IsRefusedUnderARelativeRootAndOneWithALineBreak) {
  const SessionRoot root;
  for (const char* unusable : {"somewhere", "/tmp/some\nwhere"}) {
    setenv("IDLEWAVE_DIR", unusable, 1);
    char path[kSessionPathLimit];
    EXPECT_FALSE(session_path("s", path));
  }
}

TEST(SessionDirectory, IsRefusedWhenItsPathLeavesNoRoomForASocket) {
  const SessionRoot root;
  setenv("IDLEWAVE_DIR", ("/tmp/" + std::string(60, 'd')).c_str(), 1);
  char path[kSessionPathLimit];
  EXPECT_TRUE(session_path("s", path));
  EXPECT_FALSE(session_path(std::string(40, 's').c_str(), path));
}

TEST(SessionLock, IsHeldByOneAtATime) {
  const SessionRoot root;
  const int lock = lock_session("s", 0);
  ASSERT_GE(lock, 0);
  EXPECT_LT(lock_session("s", 5), 0);
  close(lock);
  const int again = lock_session("s", 0);
  EXPECT_GE(again, 0);
  close(again);
}

TEST(SessionLock, OfARemovedFolderIsNotTakenForTheNewOne) {
  const SessionRoot root;
  const int old_lock = lock_session("s", 0);
  remove_session_directory("s");
  const int new_lock = lock_session("s", 0);
  EXPECT_GE(new_lock, 0);
  close(old_lock);
  EXPECT_LT(lock_session("s", 0), 0);
  close(new_lock);
}

TEST(SessionLock, TellsABusyFolderFromOneThatIsGone) {
  const SessionRoot root;
  EXPECT_EQ(try_lock_session("s"), kNoFolder);
  EXPECT_FALSE(fs::exists(root.path() / "s")) << "made by looking";
  const int lock = lock_session("s", 0);
  EXPECT_EQ(try_lock_session("s"), -1);
  close(lock);
  const int again = try_lock_session("s");
  EXPECT_GE(again, 0);
  close(again);
  fs::permissions(root.path() / "s", fs::perms::all);
  EXPECT_EQ(try_lock_session("s"), kNoFolder) << "others can write to it";
}

TEST(SessionDirectory, WithNothingButLocksIsEmpty) {
  const SessionRoot root;
  const int lock = lock_session("s", 0);
  const int owner = hold_session("s");
  remove_session_directory_if_empty("s");
  EXPECT_TRUE(fs::exists(root.path() / "s")) << "somebody holds it";
  close(owner);
  write_text(root.path() / "s" / "agent.log", "");
  write_text(root.path() / "s" / "monitor.sock", "");
  remove_session_directory_if_empty("s");
  EXPECT_TRUE(fs::exists(root.path() / "s" / "monitor.sock"));
  fs::remove(root.path() / "s" / "monitor.sock");
  remove_session_directory_if_empty("s");
  EXPECT_FALSE(fs::exists(root.path() / "s"));
  close(lock);
}

/// As ranks in a container with a host name of their own have it, whose session's host ends before their agent.
TEST(SessionDirectory, OfASecondPlaceIsFoundAndRemovedWhenThatOfTheFirstHasGone) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  setenv("SLURMD_NODENAME", "far", 1);
  ASSERT_TRUE(make_session_directory("s"));
  char before[kSessionPathLimit], after[kSessionPathLimit];
  ASSERT_TRUE(session_path("s", before));
  EXPECT_NE(before, (root.path() / "s").string());
  fs::remove_all(root.path() / "s");
  ASSERT_TRUE(session_path("s", after));
  EXPECT_STREQ(after, before);
  const int lock = lock_session("s", 0);
  remove_session_directory_if_empty("s");
  close(lock);
  unsetenv("SLURMD_NODENAME");
  EXPECT_TRUE(fs::is_empty(root.path()));
}

}  // namespace
}  // namespace idlewave::session
