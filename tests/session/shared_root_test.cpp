#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "probe/session/descriptor.h"
#include "probe/session/directory.h"
#include "probe/session/sweep.h"
#include "probe/session/trouble_log.h"
#include "tests/probe/node.h"
#include "tests/session/session_folder.h"

namespace idlewave::session {
namespace {

using test::SessionRoot;
using testing::ElementsAre;
using testing::EndsWith;
using testing::MatchesRegex;

/// As another machine, or a container, would have made the folder of session "s".
void give_away(const SessionRoot& root, const std::string& machine = "elsewhere") {
  fs::remove(root.path() / "s" / "place");
  fs::create_symlink(machine + " 1f2e/pid:[17]", root.path() / "s" / "place");
}

TEST(SharedRoot, GivesEachPlaceAFolderOfItsOwn) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  give_away(root);
  AgentRecord read;
  EXPECT_FALSE(read_agent_record("s", read)) << "the numbers mean something else there";
  AgentRecord written = record_of(getpid());
  make_session("s", written);
  ASSERT_TRUE(read_agent_record("s", read));
  char folder[kSessionPathLimit];
  ASSERT_TRUE(session_path("s", folder));
  EXPECT_THAT(folder, testing::MatchesRegex(".*/s\\.[0-9a-f]{8}"));
  remove_session_directory("s");
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(root.path() / "s" / "agent"));
}

TEST(SharedRoot, GivesEachNodeOfOneMachineAFolderOfItsOwn) {
  const SessionRoot root;
  std::vector<std::string> folders;
  for (const char* node : {"n1", "n2", "n3"}) {
    const NodeOfSlurm here(node);
    make_session("s", record_of(getpid()));
    char folder[kSessionPathLimit];
    ASSERT_TRUE(session_path("s", folder));
    folders.emplace_back(folder);
  }
  EXPECT_THAT(folders, testing::UnorderedElementsAre(EndsWith("/s"), MatchesRegex(".*/s\\.[0-9a-f]{8}"),
                                                     MatchesRegex(".*/s\\.[0-9a-f]{8}")));
  EXPECT_NE(folders[1], folders[2]);
  const NodeOfSlurm fourth("n4");
  AgentRecord read;
  EXPECT_FALSE(read_agent_record("s", read)) << "an agent of another node";
}

TEST(SharedRoot, KnowsANodeThatSlurmCallsByItsShortName) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  const NodeOfSlurm here(std::string(name, strcspn(name, ".")).c_str());
  AgentRecord read;
  EXPECT_TRUE(read_agent_record("s", read));
}

TEST(SharedRoot, DoesNotTakeHydrasWordForWhichNodeThisIs) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  const NodeOfSlurm where_hydra_was_started("n1");
  setenv("MPI_LOCALRANKID", "0", 1);
  AgentRecord read;
  EXPECT_TRUE(read_agent_record("s", read));
}

TEST(SharedRoot, IsSweptByEachPlaceForItself) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  give_away(root);
  make_session("s", record_of_the_dead());
  sweep_dead_sessions(nullptr);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root.path())) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ElementsAre("s"));
  EXPECT_TRUE(fs::exists(root.path() / "s" / "agent"));
}

TEST(SharedRoot, KeepsTheOneToKeepWhereverItStands) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  give_away(root);
  make_session("s", record_of_the_dead());
  char folder[kSessionPathLimit];
  ASSERT_TRUE(session_path("s", folder));
  note_trouble("s", "nobody started the agent");
  sweep_dead_sessions("s");
  EXPECT_TRUE(fs::exists(fs::path(folder) / "trouble.log"));
}

TEST(SharedRoot, IsSweptOfWhatThisMachineLeftBeforeItWasStartedAnew) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  give_away(root, name);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

/// As a container on this machine, with processes of its own, would have made the folder of session "s".
void give_to_a_container(const SessionRoot& root) {
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  const std::string node(name, strcspn(name, "."));
  fs::remove(root.path() / "s" / "place");
  fs::create_symlink(node + " " + boot + "/pid:[17]", root.path() / "s" / "place");
}

TEST(SharedRoot, IsSweptOfWhatAContainerLeftInWhichNobodyLivesAnyMore) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  give_to_a_container(root);
  write_text(root.path() / "s" / "lock", "");
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(SharedRoot, KeepsWhatSomebodyInAContainerHolds) {
  for (const char* held : {"owner", "lock", "."}) {
    const SessionRoot root;
    make_session("s", record_of_the_dead());
    give_to_a_container(root);
    write_text(root.path() / "s" / "lock", "");
    const fs::path path = root.path() / "s" / held;
    const Descriptor lock(open(path.c_str(), *held == '.' ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT, 0600));
    ASSERT_EQ(flock(lock.get(), *held == 'o' ? LOCK_SH : LOCK_EX), 0);
    sweep_dead_sessions(nullptr);
    EXPECT_TRUE(fs::exists(root.path() / "s" / "agent")) << held;
  }
}

TEST(SharedRoot, KeepsWhatAContainerIsMakingJustNow) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  give_to_a_container(root);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
}

}  // namespace
}  // namespace idlewave::session
