#include "monitor/host/launcher.h"

#include <gmock/gmock.h>

#include "monitor/host/names.h"

namespace idlewave::host {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Key;
using testing::Not;

TEST(Launcher, OpenMpiIsToldWhichVariablesTheRanksNeed) {
  const auto command =
      with_environment({"mpirun", "-n", "4", "./a.out"}, LauncherKind::kOpenMpi, {{"IDLEWAVE_SESSION", "s"}});
  EXPECT_THAT(command, ElementsAre("mpirun", "-x", "IDLEWAVE_SESSION", "-n", "4", "./a.out"));
}

TEST(Launcher, OpenMpiIsToldSoForEachProgramOfACommand) {
  const auto command =
      with_environment({"mpirun", "a", ":", "-n", "2", "b"}, LauncherKind::kOpenMpi, {{"IDLEWAVE_SESSION", "s"}});
  EXPECT_THAT(command,
              ElementsAre("mpirun", "-x", "IDLEWAVE_SESSION", "a", ":", "-x", "IDLEWAVE_SESSION", "-n", "2", "b"));
}

TEST(Launcher, OthersHandOnTheirOwnEnvironment) {
  const auto command = with_environment({"srun", "./a.out"}, LauncherKind::kSlurm, {{"IDLEWAVE_SESSION", "s"}});
  EXPECT_THAT(command, ElementsAre("srun", "./a.out"));
}

TEST(Launcher, SlurmThatExportsNotAllIsToldWhichVariablesTheRanksNeed) {
  unsetenv("SLURM_EXPORT_ENV");
  const Environment wanted = {{"IDLEWAVE_KEY", "k"}, {"IDLEWAVE_SESSION", "s"}};
  const auto with = [&](std::vector<std::string> command) {
    return with_environment(std::move(command), LauncherKind::kSlurm, wanted);
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
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "0", 1);
  EXPECT_THAT(demo_environment(LauncherKind::kOpenMpi), Not(Contains(Key("OMPI_MCA_rmaps_base_oversubscribe"))));
  unsetenv("OMPI_MCA_rmaps_base_oversubscribe");
  EXPECT_THAT(demo_environment(LauncherKind::kOpenMpi), Contains(Key("OMPI_MCA_rmaps_base_oversubscribe")));
}

TEST(Launcher, TheChoiceOfTheUserCountsMoreThanTheName) {
  EXPECT_EQ(launcher_kind("my-own-launcher", MpiChoice::kMpich), LauncherKind::kMpich);
  EXPECT_EQ(launcher_kind("my-own-launcher", MpiChoice::kAuto), LauncherKind::kOther);
}

TEST(Launcher, IsKnownByItsNameAndNotByOneThatAProgramHasInItsOwn) {
  const auto kind = [](const char* name) { return launcher_kind(name, MpiChoice::kAuto); };
  EXPECT_EQ(kind("mpirun.openmpi-5"), LauncherKind::kOpenMpi);
  EXPECT_EQ(kind("orterun"), LauncherKind::kOpenMpi);
  EXPECT_EQ(kind("mpiexec.mpich-5"), LauncherKind::kMpich);
  EXPECT_EQ(kind("srun"), LauncherKind::kSlurm);
  for (const char* program :
       {"lulesh.openmpi", "lulesh.mpich", "hydra", "hydra-3d", "srunner", "my-srun", "mpirunner.mpich"})
    EXPECT_EQ(kind(program), LauncherKind::kOther) << program;
}

TEST(Names, ASessionIsNamedAfterItsProgramWithNothingThatAPathMayNotHold) {
  const std::string name = new_session_name("a b/c:d");
  EXPECT_TRUE(name.starts_with("a-b-c-d-")) << name;
  EXPECT_LE(new_session_name(std::string(200, 'x')).size(), 48u);
}

}  // namespace
}  // namespace idlewave::host
