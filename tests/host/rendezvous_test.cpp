// Where sessions over tcp are met: whose keys go, and whose stay.

#include "monitor/host/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "monitor/host/names.h"
#include "probe/session/agent_record.h"
#include "tests/remove_folder.h"

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Rendezvous : public testing::Test {
 protected:
  Rendezvous() {
    char name[] = "/tmp/idlewave-test-XXXXXX";
    home_ = mkdtemp(name);
    setenv("XDG_CACHE_HOME", name, 1);
    setenv("IDLEWAVE_DIR", name, 1);
  }
  ~Rendezvous() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("IDLEWAVE_DIR");
    remove_folder(home_);
  }

  static fs::path announced(const std::string& session, pid_t pid) {
    HostRecord host;
    host.pid = pid;
    host.start = session::process_start_time(getpid());
    host.endpoint = "tcp://node:1234";
    const auto folder = make_rendezvous(session);
    EXPECT_TRUE(folder);
    EXPECT_TRUE(announce(session, host));
    return *folder;
  }

  /// By a host of which nobody here can say whether it lives.
  static fs::path announced_in_a_container(const std::string& session) {
    fs::path folder = announced(session, ended_process());
    const std::string here = fs::read_symlink(folder / "place");
    fs::remove(folder / "place");
    fs::create_symlink(here.substr(0, here.find("pid:[")) + "pid:[1]", folder / "place");
    return folder;
  }

  static pid_t ended_process() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return child;
  }

  fs::path home_;
};

TEST_F(Rendezvous, OfASessionThatIsGoneIsRemovedByTheNext) {
  const fs::path gone = announced("gone", ended_process());
  ASSERT_TRUE(make_rendezvous("next"));
  EXPECT_FALSE(fs::exists(gone));
}

TEST_F(Rendezvous, OfASessionThatRunsStays) {
  const fs::path running = announced("running", getpid());
  ASSERT_TRUE(make_rendezvous("next"));
  EXPECT_TRUE(fs::exists(running));
}

TEST_F(Rendezvous, OfASessionInAContainerStaysAndIsListed) {
  const fs::path contained = announced_in_a_container("contained");
  ASSERT_TRUE(make_rendezvous("next"));
  EXPECT_TRUE(fs::exists(contained));
  ASSERT_EQ(announced_sessions().size(), 1u);
  EXPECT_EQ(announced_sessions()[0].session, "contained");
}

TEST_F(Rendezvous, OfAHostThatHasYetToSayThatItIsThereStays) {
  const auto made = make_rendezvous("young");
  ASSERT_TRUE(made);
  ASSERT_TRUE(make_rendezvous("next"));
  EXPECT_TRUE(fs::exists(*made));
}

TEST_F(Rendezvous, IsNotTakenFromASessionOfTheSameName) {
  announced_in_a_container("twice");
  const auto second = make_rendezvous("twice");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("choose another name"));
}

TEST_F(Rendezvous, OfAnotherIsAvoidedByANewName) {
  const std::string name = new_session_name("ring");
  announced_in_a_container(name);
  EXPECT_EQ(new_session_name("ring"), name + "-2");
}

/// Somebody else may have made it in a place that all can write.
TEST_F(Rendezvous, IsNotMadeInAFolderThatOthersCanWrite) {
  for (const char* level : {"idlewave", "idlewave/NODE", "idlewave/NODE/night"}) {
    SCOPED_TRACE(level);
    fs::remove_all(home_ / "idlewave");
    const fs::path made = *make_rendezvous("night");
    const fs::path open = level == std::string("idlewave")        ? made.parent_path().parent_path()
                          : level == std::string("idlewave/NODE") ? made.parent_path()
                                                                  : made;
    fs::permissions(open, fs::perms::all);
    const auto refused = make_rendezvous("night");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr(open.string() + ": no place for the session's keys"));
  }
}

TEST_F(Rendezvous, IsNotMadeThroughALink) {
  const fs::path made = *make_rendezvous("night");
  fs::rename(made, home_ / "elsewhere");
  fs::create_directory_symlink(home_ / "elsewhere", made);
  EXPECT_THAT(make_rendezvous("night").error().message, HasSubstr("it is a link"));
}

TEST_F(Rendezvous, OverwritesNothingThroughALink) {
  const fs::path made = *make_rendezvous("night"), precious = home_ / "precious";
  std::ofstream(precious) << "text";
  fs::create_symlink(precious, made / "host.new");
  HostRecord host;
  host.pid = getpid();
  host.start = session::process_start_time(getpid());
  host.endpoint = "tcp://127.0.0.1:1";
  ASSERT_TRUE(announce("night", host));
  EXPECT_EQ(fs::file_size(precious), 4u);
  EXPECT_FALSE(fs::is_symlink(made / "host"));
}

}  // namespace
}  // namespace idlewave::host
