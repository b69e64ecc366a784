// A rank that asks the host for an agent: what it gets to hear. Shell scripts stand for the program that puts itself into
// the background.

#include "monitor/host/agent_starter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace idlewave::host {
namespace {

namespace fs = std::filesystem;

class AgentStarterTest : public testing::Test {
 protected:
  AgentStarterTest() {
    char name[] = "/tmp/idlewave-test-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~AgentStarterTest() override { fs::remove_all(folder_); }

  /// The arguments that follow are written down as they come.
  std::vector<std::string> agent(const std::string& end) const {
    return {"/bin/sh", "-c", "echo \"$OF_AGENT $*\" >" + (folder_ / "note").string() + "; " + end, "agent"};
  }
  std::string noted() const {
    std::ifstream file(folder_ / "note");
    return {std::istreambuf_iterator<char>(file), {}};
  }

  int asker(const std::string& words) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, (folder_ / "start.sock").c_str());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(send(fd, words.data(), words.size(), 0), ssize_t(words.size()));
    return fd;
  }

  /// "": an end without a word.
  static std::string answer(AgentStarter& starter, int fd) {
    for (pollfd ready{fd, POLLIN, 0}; poll(&ready, 1, 1) == 0;) starter.serve();
    char said = 0;
    const ssize_t got = recv(fd, &said, 1, 0);
    close(fd);
    return got == 1 ? std::string(1, said) : "";
  }

  fs::path folder_;
};

TEST_F(AgentStarterTest, SaysWhenTheAgentIsThere) {
  AgentStarter starter(folder_, agent("exit 0"), {"OF_AGENT=yes"});
  EXPECT_EQ(answer(starter, asker("12:-5 \n")), "");
  EXPECT_EQ(answer(starter, asker("12:5 /bin/sh\n")), "1");
  EXPECT_EQ(noted(), "yes --clock 12:5\n");
  EXPECT_EQ(answer(starter, asker(" \n")), "1");
  EXPECT_EQ(noted(), "yes \n");
}

TEST_F(AgentStarterTest, SaysNothingWhereTheAgentFailed) {
  AgentStarter fails(folder_, agent("exit 1"), {});
  EXPECT_EQ(answer(fails, asker(" \n")), "");
}

TEST_F(AgentStarterTest, SaysNothingWhereThereIsNoAgent) {
  AgentStarter missing(folder_, {"/nowhere/idlewave-agent"}, {});
  EXPECT_EQ(answer(missing, asker(" \n")), "");
}

TEST_F(AgentStarterTest, StartsNothingForWordsOfAnotherKind) {
  AgentStarter starter(folder_, agent("exit 0"), {});
  for (const char* words :
       {"--detach \n", "1:2", "1:2\n", "\n", "1:2 --allow-inject\n", "1:2 /another/agent\n", "1:2 \t\n"})
    EXPECT_EQ(answer(starter, asker(words)), "") << words;
  EXPECT_EQ(noted(), "");
}

TEST_F(AgentStarterTest, TakesSeveralAndOneThatGoes) {
  AgentStarter starter(folder_, agent("exit 0"), {});
  close(asker(" \n"));
  const int first = asker(" \n"), second = asker(" \n");
  EXPECT_EQ(answer(starter, second), "1");
  EXPECT_EQ(answer(starter, first), "1");
}

/// A process that sleeps until SIGURG.
class Sleeper {
 public:
  Sleeper() {
    sigset_t urgent;
    sigemptyset(&urgent);
    sigaddset(&urgent, SIGURG);
    sigprocmask(SIG_BLOCK, &urgent, nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      closefrom(STDERR_FILENO + 1);  // Or it would keep open what others of these have handed over.
      int number = 0;
      sigwait(&urgent, &number);
      _exit(0);
    }
    sigprocmask(SIG_UNBLOCK, &urgent, nullptr);
    fd_ = int(syscall(SYS_pidfd_open, pid_, 0));
  }
  ~Sleeper() { end(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  int fd() const { return fd_; }
  void end() {
    if (pid_ <= 0) return;
    close(fd_);
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
  int fd_ = -1;
};

/// What an agent of node "n1" leaves with the host: a file, and two processes.
class Left {
 public:
  Left() : memory_(memfd_create("test", MFD_CLOEXEC)) {
    EXPECT_EQ(write(memory_, "left", 4), 4);
    lseek(memory_, 0, SEEK_SET);
  }
  ~Left() { close(memory_); }
  Left(const Left&) = delete;
  Left& operator=(const Left&) = delete;

  void end() {
    agent_.end();
    first_.end();
  }
  void end_agent() { agent_.end(); }
  /// Says `line` at `socket`, with so many of the three.
  void say(int socket, std::string line, std::size_t handed = 3) const {
    const std::array<int, 3> all = {memory_, first_.fd(), agent_.fd()};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof all)] = {};
    iovec from{line.data(), line.size()};
    msghdr message{};
    message.msg_iov = &from;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = CMSG_SPACE(handed * sizeof(int));
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(handed * sizeof(int));
    std::memcpy(CMSG_DATA(part), all.data(), handed * sizeof(int));
    EXPECT_EQ(sendmsg(socket, &message, 0), ssize_t(line.size()));
  }

 private:
  int memory_;
  Sleeper first_, agent_;
};

TEST_F(AgentStarterTest, HasToldWhatADeadAgentLeft) {
  const std::string note = (folder_ / "note").string(), go = (folder_ / "go").string();
  AgentStarter starter(folder_, agent("cat >>" + note + "; while [ ! -e " + go + " ]; do sleep 0.01; done"),
                       {"OF_AGENT=yes"});
  Left left;
  const int socket = asker("");
  left.say(socket, "memory n1\n");
  EXPECT_EQ(answer(starter, socket), "");
  EXPECT_TRUE(starter.has_told_what_is_left());
  EXPECT_EQ(noted(), "") << "it lives";
  left.end();
  EXPECT_FALSE(starter.has_told_what_is_left());
  std::ofstream(go).put('\n');
  while (!starter.has_told_what_is_left()) usleep(1000);
  EXPECT_EQ(noted(), "yes --left-by n1\nleft");
}

TEST_F(AgentStarterTest, HearsTheLastWordOfAnAgentThatDiedBeforeAnybodyLooked) {
  AgentStarter starter(folder_, agent("exit 0"), {});
  {
    const Left left;
    const int socket = asker("");
    left.say(socket, "memory n1\n");
    close(socket);
  }
  while (!starter.has_told_what_is_left()) usleep(1000);
  EXPECT_EQ(noted(), " --left-by n1\n");
}

TEST_F(AgentStarterTest, KnowsOfAnAgentThatItDidNotStartForAsLongAsThatLives) {
  AgentStarter starter(folder_, agent("exit 0"), {});
  EXPECT_FALSE(starter.some_agent_lives_elsewhere());
  Left left, other;
  for (const Left* each : {&left, &other}) {
    const int socket = asker("");
    each->say(socket, "memory n1\n");
    EXPECT_EQ(answer(starter, socket), "");
  }
  left.end_agent();
  EXPECT_TRUE(starter.has_told_what_is_left());
  EXPECT_TRUE(starter.some_agent_lives_elsewhere());
  pollfd end{starter.fd(), POLLIN, 0};
  EXPECT_EQ(poll(&end, 1, 0), 0) << "the one that has ended would wake the host for ever";
  starter.say_program_has_ended();
  EXPECT_EQ(poll(&end, 1, -1), 1);
  EXPECT_TRUE(starter.has_told_what_is_left());
  EXPECT_FALSE(starter.some_agent_lives_elsewhere());
  EXPECT_EQ(noted(), "");
}

TEST_F(AgentStarterTest, TakesNothingElseThatIsLeftAndKeepsNoDescriptor) {
  AgentStarter starter(folder_, agent("exit 0"), {});
  const auto descriptors = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto before = descriptors();
  {
    Left left;
    const auto try_it = [&](const std::string& line, std::size_t handed) {
      const int socket = asker("");
      left.say(socket, line, handed);
      EXPECT_EQ(answer(starter, socket), "");
    };
    for (const char* line :
         {"memory n1", "memory \n", "memory --session\n", "memory a b\n", "memory ../x\n", "1:2 \t\n"})
      try_it(line, 3);
    for (const std::size_t handed : {1, 2}) try_it("memory n1\n", handed);
    left.end();
    EXPECT_TRUE(starter.has_told_what_is_left());
  }
  EXPECT_EQ(descriptors(), before);
  EXPECT_EQ(noted(), "");
}

TEST_F(AgentStarterTest, DoesNothingForAnotherUserWhateverThePermissions) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  AgentStarter starter(folder_, agent("exit 0"), {});
  fs::permissions(folder_, fs::perms::all);
  fs::permissions(folder_ / "start.sock", fs::perms::all);
  const auto asker_who_is = [&](uid_t user) {
    const pid_t child = fork();
    if (child == 0) {
      char said = 0;
      _exit(seteuid(user) == 0 && recv(asker(" \n"), &said, 1, 0) == 1 ? 0 : 1);
    }
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) starter.serve(), usleep(1000);
    return WEXITSTATUS(status) == 0;
  };
  EXPECT_TRUE(asker_who_is(0));
  EXPECT_FALSE(asker_who_is(65534));
}

TEST_F(AgentStarterTest, IsTheUsersAloneAndGoesWithIt) {
  {
    const AgentStarter starter(folder_, agent("exit 0"), {});
    struct stat status {};
    ASSERT_EQ(stat((folder_ / "start.sock").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
  }
  EXPECT_FALSE(fs::exists(folder_ / "start.sock"));
}

}  // namespace
}  // namespace idlewave::host
