#include "monitor/host/preload.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace idlewave::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::string>;

class Preloaded : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("LD_PRELOAD");
    unsetenv("SLURM_EXPORT_ENV");
  }
  void TearDown() override { SetUp(); }

  Words with(LauncherKind kind, Words command) {
    environment.clear();
    return with_preload(std::move(command), kind, "/us.so", environment);
  }
  Words environment;
};

TEST_F(Preloaded, OpenMpiHandsItToTheRanksOfEachProgram) {
  EXPECT_THAT(with(LauncherKind::kOpenMpi, {"mpirun", "-n", "2", "sh", ":", "-n", "2", "ls", "x"}),
              ElementsAre("mpirun", "-x", "LD_PRELOAD=/us.so", "-n", "2", "sh", ":", "-x", "LD_PRELOAD=/us.so", "-n",
                          "2", "ls", "x"));
  EXPECT_THAT(environment, IsEmpty());
}

TEST_F(Preloaded, HydraIsToldOnceForAll) {
  EXPECT_THAT(with(LauncherKind::kMpich, {"mpirun", "-n", "2", "sh", ":", "ls"}),
              ElementsAre("mpirun", "-genv", "LD_PRELOAD", "/us.so", "-n", "2", "sh", ":", "ls"));
  EXPECT_THAT(environment, IsEmpty());
}

TEST_F(Preloaded, HydrasListsOfNamesStayAsTheyAre) {
  for (const char* list : {"-genvlist", "-envlist"})
    EXPECT_THAT(with(LauncherKind::kMpich, {"mpirun", list, "LD_PRELOAD", "-n", "1", "sh"}),
                ElementsAre("mpirun", "-genv", "LD_PRELOAD", "/us.so", list, "LD_PRELOAD", "-n", "1", "sh"));
}

TEST_F(Preloaded, OtherVariablesAreLeftAsTheyAre) {
  const std::string theirs = "env LD_PRELOAD=/x.so ls";
  EXPECT_THAT(with(LauncherKind::kMpich, {"mpirun", "-genv", "CMD", theirs, "sh"}),
              ElementsAre("mpirun", "-genv", "LD_PRELOAD", "/us.so", "-genv", "CMD", theirs, "sh"));
  EXPECT_THAT(with(LauncherKind::kOpenMpi, {"mpirun", "--wdir", "LD_PRELOAD", "-x", "A=LD_PRELOAD=x", "sh"}),
              ElementsAre("mpirun", "-x", "LD_PRELOAD=/us.so", "--wdir", "LD_PRELOAD", "-x", "A=LD_PRELOAD=x", "sh"));
  EXPECT_THAT(with(LauncherKind::kSlurm, {"srun", "--export=ALL,MY_LD_PRELOAD=x", "sh"}),
              ElementsAre("srun", "--export=ALL,MY_LD_PRELOAD=x,LD_PRELOAD=/us.so", "sh"));
}

TEST_F(Preloaded, SlurmExportsWhatItWouldAndIt) {
  EXPECT_THAT(with(LauncherKind::kSlurm, {"srun", "sh"}), ElementsAre("srun", "--export=ALL,LD_PRELOAD=/us.so", "sh"));
  EXPECT_THAT(with(LauncherKind::kSlurm, {"srun", "--export=A,B=1", "sh"}),
              ElementsAre("srun", "--export=A,B=1,LD_PRELOAD=/us.so", "sh"));
  EXPECT_THAT(with(LauncherKind::kSlurm, {"srun", "--export", "NONE", "sh"}),
              ElementsAre("srun", "--export", "LD_PRELOAD=/us.so", "sh"));
  EXPECT_THAT(with(LauncherKind::kSlurm, {"srun", "--export=ALL,LD_PRELOAD=theirs.so", "sh"}),
              ElementsAre("srun", "--export=ALL,LD_PRELOAD=/us.so:theirs.so", "sh"));
  setenv("SLURM_EXPORT_ENV", "HOME", 1);
  EXPECT_THAT(with(LauncherKind::kSlurm, {"srun", "sh"}), ElementsAre("srun", "--export=HOME,LD_PRELOAD=/us.so", "sh"));
}

TEST_F(Preloaded, WhateverElseStartsRanksFindsItInItsEnvironment) {
  EXPECT_THAT(with(LauncherKind::kOther, {"./job.sh", "x"}), ElementsAre("./job.sh", "x"));
  EXPECT_THAT(environment, ElementsAre("LD_PRELOAD=/us.so"));
}

TEST_F(Preloaded, WhatTheUserLoadsIsLoadedBehindIt) {
  EXPECT_THAT(with(LauncherKind::kOpenMpi, {"mpirun", "-x", "LD_PRELOAD=theirs.so", "sh", "-x", "LD_PRELOAD=y"}),
              ElementsAre("mpirun", "-x", "LD_PRELOAD=/us.so:theirs.so", "sh", "-x", "LD_PRELOAD=y"));
  EXPECT_THAT(with(LauncherKind::kMpich, {"mpirun", "-env", "LD_PRELOAD", "theirs.so", "sh"}),
              ElementsAre("mpirun", "-env", "LD_PRELOAD", "/us.so:theirs.so", "sh"));
  setenv("LD_PRELOAD", "mine.so", 1);
  EXPECT_THAT(with(LauncherKind::kOpenMpi, {"mpirun", "sh"}),
              ElementsAre("mpirun", "-x", "LD_PRELOAD=/us.so:mine.so", "sh"));
  EXPECT_THAT(with(LauncherKind::kOpenMpi, {"mpirun", "-x", "LD_PRELOAD", "sh"}),
              ElementsAre("mpirun", "-x", "LD_PRELOAD=/us.so:mine.so", "sh"));
  with(LauncherKind::kOther, {"./job.sh"});
  EXPECT_THAT(environment, ElementsAre("LD_PRELOAD=/us.so:mine.so"));
}

/// A copy of the shell with one thing changed.
class Program {
 public:
  explicit Program(const char* name) : path_(std::filesystem::temp_directory_path() / name) {
    std::filesystem::copy_file("/bin/sh", path_, std::filesystem::copy_options::overwrite_existing);
  }
  ~Program() { std::filesystem::remove(path_); }
  std::string path() const { return path_; }
  void write(std::streamoff at, char byte) {
    std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary).seekp(at).put(byte);
  }

 private:
  std::filesystem::path path_;
};

TEST_F(Preloaded, WhatEnvGivesToLauncherOrProgramIsLoadedBehindIt) {
  EXPECT_THAT(with(LauncherKind::kOther, {"/usr/bin/env", "A=1", "LD_PRELOAD=x.so", "mpirun", "sh"}),
              ElementsAre("/usr/bin/env", "A=1", "LD_PRELOAD=/us.so:x.so", "mpirun", "sh"));
  EXPECT_THAT(environment, ElementsAre("LD_PRELOAD=/us.so"));
  EXPECT_THAT(with(LauncherKind::kOpenMpi, {"mpirun", "ls", ":", "-n", "2", "env", "LD_PRELOAD=x.so", "sh"}),
              ElementsAre("mpirun", "-x", "LD_PRELOAD=/us.so", "ls", ":", "-x", "LD_PRELOAD=/us.so", "-n", "2", "env",
                          "LD_PRELOAD=/us.so:x.so", "sh"));
  EXPECT_THAT(with(LauncherKind::kMpich, {"mpirun", "-n", "2", "env", "LD_PRELOAD=x.so", "sh"}),
              ElementsAre("mpirun", "-genv", "LD_PRELOAD", "/us.so", "-n", "2", "env", "LD_PRELOAD=/us.so:x.so", "sh"));
}

TEST_F(Preloaded, WordsOfTheProgramAreLeftAsTheyAre) {
  for (const Words& words : {Words{"env", "sh", "LD_PRELOAD=x.so"}, Words{"sh", "env", "LD_PRELOAD=x.so"}}) {
    EXPECT_EQ(with(LauncherKind::kOther, words), words);
    Words command = {"mpirun", "-genv", "LD_PRELOAD", "/us.so"};
    command.insert(command.end(), words.begin(), words.end());
    Words given = words;
    given.insert(given.begin(), "mpirun");
    EXPECT_EQ(with(LauncherKind::kMpich, given), command);
  }
}

TEST_F(Preloaded, AProgramThatTakesNothingIsLeftAsItIsAndSaysWhy) {
  if (!IDLEWAVE_HAS_LIBRARY) GTEST_SKIP() << "built with a sanitizer, and so without the library";
  Program other("iw-preload-other");
  other.write(18, '\x28');  // e_machine: 32-bit ARM
  EXPECT_THAT(choose_preload({"mpirun", "-n", "2", other.path()}, LauncherKind::kOpenMpi).why_not,
              HasSubstr("is of another architecture"));
  EXPECT_THAT(choose_preload({"mpirun", "-n", "2", other.path()}, LauncherKind::kOpenMpi).library, IsEmpty());

  Program owned("iw-preload-owned");
  std::filesystem::permissions(owned.path(), std::filesystem::perms::set_uid, std::filesystem::perm_options::add);
  EXPECT_THAT(choose_preload({owned.path()}, LauncherKind::kOther).why_not, HasSubstr("set-user-ID"));

  EXPECT_THAT(choose_preload({"mpirun", "-n", "2", IDLEWAVE_STATIC_PROGRAM}, LauncherKind::kOpenMpi).why_not,
              HasSubstr("is linked statically"));
}

TEST_F(Preloaded, OfAScriptAndAnOrdinaryProgramTheLibraryIsGiven) {
  if (!IDLEWAVE_HAS_LIBRARY) GTEST_SKIP() << "built with a sanitizer, and so without the library";
  EXPECT_THAT(choose_preload({"mpirun", "-n", "2", "sh"}, LauncherKind::kOpenMpi).why_not, IsEmpty());
  EXPECT_THAT(choose_preload({"sh", "-c", "true"}, LauncherKind::kOther).library, HasSubstr("libidlewave-mpi"));
  EXPECT_THAT(choose_preload({"mpirun", "sh"}, LauncherKind::kMpich).library, HasSubstr("libidlewave-mpi.so"));
  EXPECT_THAT(choose_preload({"mpirun", "sh"}, LauncherKind::kOpenMpi).library,
              HasSubstr("libidlewave-mpi-small-counts.so"));
}

}  // namespace
}  // namespace idlewave::host
