#include "monitor/host/launcher.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "monitor/host/launcher_words.h"
#include "monitor/host/names.h"
#include "monitor/host/preload.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;

std::vector<std::string> with_session(std::vector<std::string> command, LauncherKind kind) {
  std::vector<std::string> environment;
  command = with_environment(std::move(command), kind, {{"IDLEWAVE_SESSION", "s"}}, environment);
  EXPECT_THAT(environment, ElementsAre("IDLEWAVE_SESSION=s"));
  return command;
}

TEST(Launcher, OpenMpiIsToldWhichVariablesTheRanksNeed) {
  const auto command = with_session({"mpirun", "-n", "4", "./a.out"}, LauncherKind::kOpenMpi);
  EXPECT_THAT(command, ElementsAre("mpirun", "-x", "IDLEWAVE_SESSION", "-n", "4", "./a.out"));
}

TEST(Launcher, OpenMpiIsToldSoForEachProgramOfACommand) {
  const auto command = with_session({"mpirun", "a", ":", "-n", "2", "b"}, LauncherKind::kOpenMpi);
  EXPECT_THAT(command,
              ElementsAre("mpirun", "-x", "IDLEWAVE_SESSION", "a", ":", "-x", "IDLEWAVE_SESSION", "-n", "2", "b"));
}

TEST(Launcher, OthersHandOnTheirOwnEnvironment) {
  const auto command = with_session({"srun", "./a.out"}, LauncherKind::kSlurm);
  EXPECT_THAT(command, ElementsAre("srun", "./a.out"));
}

TEST(Launcher, SlurmThatExportsNotAllIsToldWhichVariablesTheRanksNeed) {
  unsetenv("SLURM_EXPORT_ENV");
  const Environment wanted = {{"IDLEWAVE_KEY", "k"}, {"IDLEWAVE_SESSION", "s"}};
  const auto with = [&](std::vector<std::string> command) {
    std::vector<std::string> environment;
    return with_environment(std::move(command), LauncherKind::kSlurm, wanted, environment);
  };
  EXPECT_THAT(with({"srun", "--export=NONE", "sh"}),
              ElementsAre("srun", "--export=IDLEWAVE_KEY,IDLEWAVE_SESSION", "sh"));
  EXPECT_THAT(with({"srun", "--export", "A", "sh"}),
              ElementsAre("srun", "--export", "A,IDLEWAVE_KEY,IDLEWAVE_SESSION", "sh"));
  EXPECT_THAT(with({"srun", "--export=A,ALL", "sh", "--export=NONE"}),
              ElementsAre("srun", "--export=A,ALL", "sh", "--export=NONE"));
  setenv("SLURM_EXPORT_ENV", "NONE", 1);
  EXPECT_THAT(with({"srun", "sh"}), ElementsAre("srun", "--export=IDLEWAVE_KEY,IDLEWAVE_SESSION", "sh"));
  unsetenv("SLURM_EXPORT_ENV");
}

TEST(Launcher, ThePreloadOfTheUserNeverEntersTheLauncherThroughUs) {
  EXPECT_THAT(session_environment("s", "ipc:///x"), Not(Contains(Key("LD_PRELOAD"))));
}

TEST(Launcher, WhatTheUserHasSetIsLeftAlone) {
  for (const char* variable : {"OMPI_MCA_rmaps_base_oversubscribe", "PRTE_MCA_rmaps_default_mapping_policy"}) {
    setenv(variable, "0", 1);
    EXPECT_THAT(demo_environment(LauncherKind::kOpenMpi), Not(Contains(Key(variable))));
    unsetenv(variable);
    EXPECT_THAT(demo_environment(LauncherKind::kOpenMpi), Contains(Key(variable)));
  }
}

TEST(Launcher, TheChoiceOfTheUserCountsMoreThanTheName) {
  EXPECT_EQ(launcher_kind("my-own-launcher", MpiChoice::kMpich), LauncherKind::kMpich);
  EXPECT_EQ(launcher_kind("my-own-launcher", MpiChoice::kAuto), LauncherKind::kOther);
}

TEST(Launcher, IsKnownByItsNameAndNotByOneThatAProgramHasInItsOwn) {
  const auto kind = [](const char* name) { return launcher_kind(name, MpiChoice::kAuto); };
  EXPECT_EQ(kind("mpirun.openmpi-5"), LauncherKind::kOpenMpi);
  EXPECT_EQ(kind("orterun"), LauncherKind::kOpenMpi);
  EXPECT_EQ(kind("prte"), LauncherKind::kOpenMpi) << "which prterun is a link to";
  EXPECT_EQ(kind("mpiexec.mpich-5"), LauncherKind::kMpich);
  EXPECT_EQ(kind("srun"), LauncherKind::kSlurm);
  for (const char* program :
       {"lulesh.openmpi", "lulesh.mpich", "hydra", "hydra-3d", "srunner", "my-srun", "mpirunner.mpich"})
    EXPECT_EQ(kind(program), LauncherKind::kOther) << program;
}

/// A folder of programs in PATH; the file of parameters of a home that is not the user's.
class Folder {
 public:
  Folder()
      : path_(mkdtemp(name_)), before_(std::getenv("PATH")), home_(std::getenv("HOME") ? std::getenv("HOME") : "/") {
    setenv("PATH", (before_ + ":" + path_.string()).c_str(), 1);
    setenv("HOME", path_.c_str(), 1);
  }
  ~Folder() {
    setenv("PATH", before_.c_str(), 1);
    setenv("HOME", home_.c_str(), 1);
    fs::remove_all(path_);
  }
  void add_program(const std::string& name) {
    std::ofstream(path_ / name) << "#!/bin/sh\n";
    fs::permissions(path_ / name, fs::perms::owner_all);
  }
  /// No script.
  void add_executable(const std::string& name) { fs::copy_file("/proc/self/exe", path_ / name); }
  std::string path_of(const std::string& name) const { return path_ / name; }
  void remove(const std::string& name) { fs::remove(path_ / name); }
  std::string parameters() const { return path_ / ".openmpi/mca-params.conf"; }
  void add_parameters(const std::string& text) {
    fs::create_directory(path_ / ".openmpi");
    std::ofstream(path_ / ".openmpi/mca-params.conf") << text;
  }

 private:
  char name_[32] = "/tmp/idlewave-test-XXXXXX";
  fs::path path_;
  std::string before_, home_;
};

TEST(Launcher, WithNothingInItsNameIsKnownByWhatLiesBesideIt) {
  Folder folder;
  const auto kind = [&](const char* name) { return launcher_kind(folder.path_of(name), MpiChoice::kAuto); };
  for (const char* name : {"mpirun", "mpiexec", "a.out"}) folder.add_executable(name);
  EXPECT_EQ(kind("mpirun"), LauncherKind::kOther);
  folder.add_program("prterun");
  EXPECT_EQ(kind("mpirun"), LauncherKind::kOpenMpi);
  EXPECT_EQ(kind("mpiexec"), LauncherKind::kOpenMpi);
  EXPECT_EQ(kind("a.out"), LauncherKind::kOther);
  folder.add_program("hydra_pmi_proxy");
  EXPECT_EQ(kind("mpirun"), LauncherKind::kOther) << "it may belong to either";
  folder.remove("prterun");
  EXPECT_EQ(kind("mpirun"), LauncherKind::kMpich);
  folder.remove("mpirun");
  folder.add_program("mpirun");
  EXPECT_EQ(kind("mpirun"), LauncherKind::kOther) << "a script has words of its own";
}

TEST(Launcher, TheValueOfAFlagIsNotTakenForTheProgramThoughOneIsCalledSo) {
  Folder folder;
  for (const char* name : {"node", "core", "a.out"}) folder.add_program(name);
  const auto label = [](std::vector<std::string> command, LauncherKind kind) { return program_label(command, kind); };
  EXPECT_EQ(label({"mpirun", "--map-by", "node", "-n", "2", "a.out", "node"}, LauncherKind::kOpenMpi), "a.out");
  EXPECT_EQ(label({"mpirun", "-mca", "node", "core", "a.out"}, LauncherKind::kOpenMpi), "a.out");
  EXPECT_EQ(label({"mpiexec", "-genv", "node", "core", "-bind-to", "core", "a.out"}, LauncherKind::kMpich), "a.out");
  EXPECT_EQ(label({"mpiexec", "-genv", "node=core", "a.out", "core"}, LauncherKind::kMpich), "a.out");
  EXPECT_EQ(label({"srun", "-m", "node", "--mem=1", "-J", "core", "a.out"}, LauncherKind::kSlurm), "a.out");
  EXPECT_EQ(label({"mpirun", "--oversubscribe", "a.out", "node"}, LauncherKind::kOpenMpi), "a.out");
  EXPECT_EQ(label({"time", "a.out", "node"}, LauncherKind::kOther), "a.out");
  EXPECT_EQ(label({"mpirun", "-n", "2", "nowhere"}, LauncherKind::kOpenMpi), "mpirun");
}

const std::string kListOfOpenMpi = "OMPI_MCA_mca_base_env_list=", kOurs = "IDLEWAVE_SESSION;LD_PRELOAD=/ours.so";

class OpenMpiList : public testing::Test {
 protected:
  ~OpenMpiList() override {
    for (const char* name : {"OMPI_MCA_mca_base_env_list", "OMPI_MCA_mca_base_param_files", "LD_PRELOAD"})
      unsetenv(name);
  }
  using Words = std::vector<std::string>;

  /// As `run` makes it, with a library that ranks load.
  Words made(Words command) {
    command = with_preload(std::move(command), LauncherKind::kOpenMpi, "/ours.so", environment_);
    return with_environment(std::move(command), LauncherKind::kOpenMpi, {{"IDLEWAVE_SESSION", "s"}}, environment_);
  }

  Words environment_;
};

TEST_F(OpenMpiList, OfTheCommandIsAddedToAndNothingIsSaidByX) {
  EXPECT_THAT(made({"mpirun", "--mca", "mca_base_env_list", "A=3;B", "sh", "mca_base_env_list"}),
              ElementsAre("mpirun", "--mca", "mca_base_env_list", kOurs + ";A=3;B", "sh", "mca_base_env_list"));
}

TEST_F(OpenMpiList, OfTheEnvironmentIsAddedTo) {
  setenv("OMPI_MCA_mca_base_env_list", "A=3", 1);
  EXPECT_THAT(made({"mpirun", "sh"}), ElementsAre("mpirun", "sh"));
  EXPECT_THAT(environment_, ElementsAre(kListOfOpenMpi + kOurs + ";A=3", "IDLEWAVE_SESSION=s"));
}

TEST_F(OpenMpiList, OfTheUsersFileIsAddedTo) {
  Folder home;
  home.add_parameters("# mca_base_env_list = no\nbtl = tcp\n mca_base_env_list = A=3;B \n");
  EXPECT_THAT(made({"mpirun", "sh"}), ElementsAre("mpirun", "sh"));
  EXPECT_THAT(environment_, Contains(kListOfOpenMpi + kOurs + ";A=3;B"));
}

TEST_F(OpenMpiList, OfAFileThatTheUserNamesIsAddedTo) {
  Folder folder;
  folder.add_parameters("mca_base_env_list = A=3\n");
  const std::string file = folder.parameters();
  setenv("HOME", "/nowhere", 1);
  made({"mpirun", "--mca", "mca_base_param_files", "/nowhere/file," + file, "sh"});
  EXPECT_THAT(environment_, Contains(kListOfOpenMpi + kOurs + ";A=3"));
  environment_.clear();
  setenv("OMPI_MCA_mca_base_param_files", file.c_str(), 1);
  made({"mpirun", "sh"});
  EXPECT_THAT(environment_, Contains(kListOfOpenMpi + kOurs + ";A=3"));
}

TEST_F(OpenMpiList, OfAFileOfFlagsIsAddedTo) {
  Folder folder;
  folder.add_parameters("-x C=1\n--mca mca_base_env_list \"A=3;B\"\n");
  made({"mpirun", "--tune", folder.parameters(), "sh"});
  EXPECT_THAT(environment_, Contains(kListOfOpenMpi + kOurs + ";A=3;B"));
}

TEST_F(OpenMpiList, OfAPipeIsLeftToTheLauncherWhichWouldWait) {
  Folder folder;
  folder.add_parameters("");
  const std::string pipe = folder.parameters() + ".pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  made({"mpirun", "--tune", pipe, "sh"});
  setenv("OMPI_MCA_mca_base_param_files", pipe.c_str(), 1);
  EXPECT_THAT(made({"mpirun", "sh"}), Contains("LD_PRELOAD=/ours.so"));
  unlink(pipe.c_str());
}

TEST_F(OpenMpiList, KeepsWhatTheUserHasLoadedBehindOurs) {
  setenv("OMPI_MCA_mca_base_env_list", "LD_PRELOAD=/theirs.so;A", 1);
  made({"mpirun", "sh"});
  EXPECT_THAT(environment_, Contains(kListOfOpenMpi + kOurs + ":/theirs.so;A"));
  environment_.clear();
  setenv("LD_PRELOAD", "/mine.so", 1);
  setenv("OMPI_MCA_mca_base_env_list", "A;LD_PRELOAD", 1);
  made({"mpirun", "sh"});
  EXPECT_THAT(environment_, Contains(kListOfOpenMpi + kOurs + ":/mine.so;A"));
}

TEST(Names, ASessionIsNamedAfterItsProgramWithNothingThatAPathMayNotHold) {
  const std::string name = new_session_name("a b/c:d");
  EXPECT_TRUE(name.starts_with("a-b-c-d-")) << name;
  EXPECT_LE(new_session_name(std::string(200, 'x')).size(), 48u);
}

}  // namespace
}  // namespace idlewave::host
