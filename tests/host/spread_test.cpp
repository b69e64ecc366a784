#include "monitor/host/spread.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "monitor/host/node_list.h"

namespace idlewave::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

class Spreading : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_JOB_NODELIST", "SLURMD_NODENAME"})
      unsetenv(name);
  }
  void TearDown() override { SetUp(); }
  static void be_in_a_job(const char* nodes, const char* list) {
    setenv("SLURM_JOB_ID", "17", 1);
    setenv("SLURM_JOB_NUM_NODES", nodes, 1);
    setenv("SLURM_JOB_NODELIST", list, 1);
  }
};

TEST_F(Spreading, IsNotWhereNobodySaysSo) {
  EXPECT_THAT(spread_of({"mpirun", "-n", "4", "sh"}, LauncherKind::kOpenMpi).why, IsEmpty());
  EXPECT_THAT(spread_of({"./job"}, LauncherKind::kOther).why, IsEmpty());
}

TEST_F(Spreading, IsWhereHostsAreNamedToMpirun) {
  const Spread spread = spread_of({"mpirun", "-H", "localhost:2,far:4,farther", "sh"}, LauncherKind::kOpenMpi);
  EXPECT_EQ(spread.why, "-H names far");
  EXPECT_THAT(spread.nodes, ElementsAre("far", "farther"));
  EXPECT_EQ(spread_of({"mpirun", "--hostfile", "hosts", "sh"}, LauncherKind::kOpenMpi).why, "--hostfile names hosts");
  EXPECT_EQ(spread_of({"mpiexec", "-f", "hosts", "sh"}, LauncherKind::kMpich).why, "-f names hosts");
}

TEST_F(Spreading, IsNotWhereTheHostIsThisOne) {
  std::array<char, 256> name{};
  ASSERT_EQ(gethostname(name.data(), name.size() - 1), 0);
  const std::string hosts = std::string(name.data()) + ":2,localhost,127.0.0.1:1";
  EXPECT_THAT(spread_of({"mpirun", "--host", hosts, "sh"}, LauncherKind::kOpenMpi).why, IsEmpty());
}

TEST_F(Spreading, IsNotToldByWhatTheProgramItselfIsGiven) {
  EXPECT_THAT(spread_of({"mpiexec", "-n", "2", "sh", "-f", "input"}, LauncherKind::kMpich).why, IsEmpty());
}

TEST_F(Spreading, IsWhatTheJobIsWhoeverStartsItsRanks) {
  be_in_a_job("4", "n[1-4]");
  setenv("SLURMD_NODENAME", "n1", 1);
  for (const LauncherKind kind : {LauncherKind::kSlurm, LauncherKind::kOpenMpi, LauncherKind::kOther})
    EXPECT_EQ(spread_of({"x"}, kind).why, "this is Slurm job 17, of 4 nodes");
  EXPECT_THAT(spread_of({"x"}, LauncherKind::kSlurm).nodes, ElementsAre("n1", "n4"));
}

TEST_F(Spreading, OfAJobOfOneNodeIsThatOthersLookAtItFromElsewhere) {
  be_in_a_job("1", "n1");
  EXPECT_EQ(spread_of({"mpirun", "sh"}, LauncherKind::kOpenMpi).why, "this is Slurm job 17, of 1 node");
}

TEST_F(Spreading, IsWhereSlurmIsAskedFromOutside) {
  EXPECT_THAT(spread_of({"srun", "-n2", "sh"}, LauncherKind::kSlurm).why, HasSubstr("srun"));
  EXPECT_THAT(spread_of({"/usr/bin/salloc", "srun", "sh"}, LauncherKind::kOther).why, HasSubstr("salloc"));
}

Words others_of(const Words& command, LauncherKind kind) {
  const auto nodes = other_nodes(command, kind);
  EXPECT_TRUE(nodes) << nodes.error().message;
  return nodes ? *nodes : Words();
}

std::string why_not_told(const Words& command, LauncherKind kind) {
  const auto nodes = other_nodes(command, kind);
  return nodes ? "" : nodes.error().message;
}

TEST_F(Spreading, ToOtherNodesIsToAllOfTheJobButThisOne) {
  be_in_a_job("4", "n[1-3],m7,n2");
  setenv("SLURMD_NODENAME", "n1", 1);
  for (const LauncherKind kind : {LauncherKind::kSlurm, LauncherKind::kOpenMpi, LauncherKind::kOther})
    EXPECT_THAT(others_of({"x", "-H", "far"}, kind), ElementsAre("n2", "n3", "m7"));
}

TEST_F(Spreading, ToOtherNodesIsToThoseNamedToMpirunEachOnce) {
  char file[] = "/tmp/idlewave-hosts-XXXXXX";
  const int fd = mkstemp(file);
  const std::string text = "# ours\n  c slots=4\nme@d # mine\n\nlocalhost\nb:2\n";
  ASSERT_EQ(write(fd, text.data(), text.size()), ssize_t(text.size()));
  close(fd);
  EXPECT_THAT(others_of({"mpirun", "-H", "a:2,localhost,b", "--hostfile", file, "sh"}, LauncherKind::kOpenMpi),
              ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(others_of({"mpiexec", "-f", file, "sh"}, LauncherKind::kMpich), ElementsAre("c", "d", "b"));
  unlink(file);
}

TEST_F(Spreading, ToOtherNodesIsRefusedWhereItCanNotBeTold) {
  EXPECT_THAT(why_not_told({"mpirun", "-n", "4", "sh"}, LauncherKind::kOpenMpi), HasSubstr("can't be told"));
  EXPECT_THAT(why_not_told({"./job"}, LauncherKind::kOther), HasSubstr("can't be told"));
  EXPECT_THAT(why_not_told({"srun", "sh"}, LauncherKind::kSlurm), HasSubstr("inside of a Slurm job only"));
  EXPECT_THAT(why_not_told({"mpirun", "-H", "-oProxyCommand=x", "sh"}, LauncherKind::kOpenMpi), HasSubstr("no name"));
  EXPECT_THAT(why_not_told({"mpirun", "--hostfile", "/nowhere", "sh"}, LauncherKind::kOpenMpi), HasSubstr("/nowhere"));
  EXPECT_THAT(why_not_told({"mpirun", "--hostfile", "/dev/zero", "sh"}, LauncherKind::kOpenMpi), HasSubstr("no file"));
  be_in_a_job("2", "n[1-");
  EXPECT_THAT(why_not_told({"srun", "sh"}, LauncherKind::kSlurm), HasSubstr("no list"));
}

TEST(NodeList, IsExpanded) {
  const auto names = [](const char* list) { return *expand_node_list(list); };
  EXPECT_THAT(names("n[1-3,7],m2"), ElementsAre("n1", "n2", "n3", "n7", "m2"));
  EXPECT_THAT(names("rack[08-10]n5"), ElementsAre("rack08n5", "rack09n5", "rack10n5"));
  EXPECT_THAT(names("r[0-1]c[3,05]"), ElementsAre("r0c3", "r0c05", "r1c3", "r1c05"));
  EXPECT_THAT(names("c[099-101]"), ElementsAre("c099", "c100", "c101"));
  EXPECT_THAT(names("login1"), ElementsAre("login1"));
  EXPECT_EQ(names("n[1-4096]").size(), kMostNodes);
}

TEST(NodeList, ThatIsNoneIsRefused) {
  for (const char* list : {"",
                           ",",
                           "n1,",
                           "n[",
                           "n[]",
                           "n[1-2",
                           "n]1[",
                           "n[2-1]",
                           "n[1-a]",
                           "n[-]",
                           "n[1--2]",
                           "n[1,]",
                           "n 1",
                           "-n1",
                           "n[1-4097]",
                           "n[1-1000]m[1-1000]",
                           "n[0-99999999999999999999]",
                           "n[1-2]]",
                           "a;b",
                           "n[[1-2]]"})
    EXPECT_FALSE(expand_node_list(list)) << list;
}

TEST(NodeList, HasEnds) {
  EXPECT_THAT(ends_of_node_list("n[1-4,7],m2"), ElementsAre("n1", "n7"));
  EXPECT_THAT(ends_of_node_list("c[001-128]"), ElementsAre("c001", "c128"));
  EXPECT_THAT(ends_of_node_list("n[3]"), ElementsAre("n3"));
  EXPECT_THAT(ends_of_node_list("login1"), ElementsAre("login1"));
  EXPECT_THAT(ends_of_node_list("a1,b2"), ElementsAre("a1"));
  std::string many = "n[0";
  for (int i = 2; i < 200'000; i += 2) many += fmt::format(",{}", i);
  EXPECT_THAT(ends_of_node_list(many + "]"), ElementsAre("n0", "n199998"));
}

TEST(NodeList, HasNoneThatCouldBeGuessedWrong) {
  for (const char* list : {"", "r[0-1]n[0-9]", "n[", "[1-2]", "n[1-2"})
    EXPECT_THAT(ends_of_node_list(list), IsEmpty()) << list;
}

}  // namespace
}  // namespace idlewave::host
