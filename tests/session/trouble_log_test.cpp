#include "probe/session/trouble_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "probe/session/directory.h"
#include "tests/probe/node.h"
#include "tests/session/session_folder.h"

namespace idlewave::session {
namespace {

using test::SessionRoot;
using testing::EndsWith;

std::string trouble(const SessionRoot& root) {
  std::ostringstream text;
  text << std::ifstream(root.path() / "s" / "trouble.log").rdbuf();
  return text.str();
}

TEST(Trouble, IsOneLineWithPlaceAndProcess) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  note_trouble("s", "no agent: disk full\nreally");
  note_trouble("s", std::string(5000, 'x').c_str());
  std::istringstream lines(trouble(root));
  std::string first, second, third;
  EXPECT_TRUE(std::getline(lines, first) && std::getline(lines, second));
  EXPECT_FALSE(std::getline(lines, third));
  EXPECT_THAT(first, testing::EndsWith("process " + std::to_string(getpid()) + ": no agent: disk full really"));
  EXPECT_LT(second.size(), 1100u);
}

TEST(Trouble, IsSaidOnceByAllRanksOfANode) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  for (int rank = 0; rank < 5; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      note_trouble("s", "no agent");
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  const std::string text = trouble(root);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(Trouble, OfWhoHasNoDescriptorIsALinkBesideTheLog) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  for (const char* line : {"too many open\nfiles", "again"}) {
    const pid_t child = fork();
    if (child == 0) {
      const rlimit none{};
      setrlimit(RLIMIT_NOFILE, &none);
      note_trouble("s", line);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
  }
  EXPECT_EQ(trouble(root), "");
  EXPECT_THAT(std::filesystem::read_symlink(root.path() / "s" / "trouble.log~").string(),
              EndsWith(": too many open files"));
}

TEST(Trouble, IsToldWhereTheHostOfASessionOverTcpLooks) {
  const SessionRoot root;
  const NodeOfSlurm here("n7");
  ASSERT_TRUE(make_session_directory("s"));
  fs::create_directory(root.path() / "keys");
  fs::permissions(root.path() / "keys", fs::perms::owner_all);
  setenv("IDLEWAVE_KEY", (root.path() / "keys" / "key.agent").c_str(), 1);
  note_trouble("s", "no agent");
  EXPECT_TRUE(fs::exists(root.path() / "keys" / "trouble.n7"));
  EXPECT_FALSE(fs::exists(root.path() / "s" / "trouble.log"));
  fs::permissions(root.path() / "keys", fs::perms::all);
  note_trouble("s", "no agent");
  EXPECT_TRUE(fs::exists(root.path() / "s" / "trouble.log")) << "not in a folder that others can write";
  unsetenv("IDLEWAVE_KEY");
}

TEST(Trouble, DoesNotFillADisk) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  for (int i = 0; i < 1000; ++i) note_trouble("s", (std::to_string(i) + std::string(900, 'x')).c_str());
  EXPECT_LT(fs::file_size(root.path() / "s" / "trouble.log"), 70'000u);
}

TEST(Trouble, GoesNowhereWhereThereIsNoFolder) {
  const SessionRoot root;
  note_trouble("s", "anything");
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(Trouble, DoesNotBlockOnAPipe) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  ASSERT_EQ(mkfifo((root.path() / "s" / "trouble.log").c_str(), 0600), 0);
  note_trouble("s", "anything");
  EXPECT_TRUE(fs::is_fifo(root.path() / "s" / "trouble.log"));
}

}  // namespace
}  // namespace idlewave::session
