// How a rank that finds no agent gets one. A shell script stands where the agent's program is looked for and writes
// down how it was started; where the real agent is built, ranks also meet that.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <idlewave/probe.h>
#include <sys/prctl.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/probe/node.h"

namespace idlewave::client {
namespace {

namespace fs = std::filesystem;
using test::in_child;
using test::SessionRoot;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Lets `commands` be the agent. They find the session's root in $IDLEWAVE_DIR.
void make_agent(const fs::path& path, const std::string& commands) {
  std::ofstream(path) << "#!/bin/sh\n" << commands << "\n";
  fs::permissions(path, fs::perms::owner_all);
}

/// A rank whose agent is that script, which ends without an agent being there.
class RankWithScript : public SessionRoot {
 public:
  explicit RankWithScript(const std::string& commands) {
    setenv("IDLEWAVE_SESSION", "test", 1);
    setenv("IDLEWAVE_AGENT", (path() / "agent.sh").c_str(), 1);
    make_agent(path() / "agent.sh", commands);
  }
  std::string noted() const { return text_of(path() / "note"); }
  std::string trouble() const { return text_of(path() / "test" / "trouble.log"); }
};

TEST(AgentStart, NamesTheSession) {
  const RankWithScript rank("echo $* >$IDLEWAVE_DIR/note; exit 1");
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1); }), 0);
  EXPECT_EQ(rank.noted(), "--session test --detach\n");
}

TEST(AgentStart, PassesEndpointAndKeyFile) {
  const RankWithScript rank("echo $* >$IDLEWAVE_DIR/note; exit 1");
  setenv("IDLEWAVE_ENDPOINT", "tcp://login:7000", 1);
  setenv("IDLEWAVE_KEY", "/home/me/key", 1);
  in_child([] { return idlewave_start(0, 1); });
  EXPECT_EQ(rank.noted(), "--session test --detach --connect tcp://login:7000 --key /home/me/key\n");
}

TEST(AgentStart, PassesOnThatInjectionIsAllowed) {
  const RankWithScript rank("echo $* >$IDLEWAVE_DIR/note; exit 1");
  setenv("IDLEWAVE_ALLOW_INJECT", "1", 1);
  in_child([] { return idlewave_start(0, 1); });
  unsetenv("IDLEWAVE_ALLOW_INJECT");
  EXPECT_EQ(rank.noted(), "--session test --detach --allow-inject\n");
}

TEST(AgentStart, SaysInTheSessionsFolderWhatTheAgentComplainedOf) {
  const RankWithScript rank("echo first >&2; echo 'error while loading shared libraries: libzmq.so.5' >&2; exit 127");
  in_child([] { return idlewave_start(0, 1); });
  EXPECT_THAT(rank.trouble(), HasSubstr("a rank is not watched: "));
  EXPECT_THAT(rank.trouble(), HasSubstr("agent.sh failed: error while loading shared libraries: libzmq.so.5\n"));
}

TEST(AgentStart, SaysInTheSessionsFolderThatThereIsNoProgram) {
  const RankWithScript rank("exit 1");
  setenv("IDLEWAVE_AGENT", "/nowhere/idlewave-agent", 1);
  in_child([] { return idlewave_start(0, 1); });
  EXPECT_THAT(rank.trouble(), HasSubstr("/nowhere/idlewave-agent can't be started: No such file or directory"));
}

TEST(AgentStart, DoesNotPassOnWhatWasPreloaded) {
  const RankWithScript rank("env >$IDLEWAVE_DIR/note; exit 1");
  in_child([] {
    setenv("LD_PRELOAD", "libc.so.6", 1);
    return idlewave_start(0, 1);
  });
  EXPECT_THAT(rank.noted(), Not(HasSubstr("LD_PRELOAD")));
  EXPECT_THAT(rank.noted(), HasSubstr("PATH="));
}

TEST(AgentStart, SharesNoFileOfItsHost) {
  const RankWithScript rank("ls -l /proc/self/fd >$IDLEWAVE_DIR/note; exit 1");
  const fs::path file = rank.path() / "hosts-file";
  in_child([&] {
    for (int i = 0; i < 20; ++i) (void)!open(file.c_str(), O_RDWR | O_CREAT, 0600);
    dup2(open(file.c_str(), O_RDWR), STDOUT_FILENO);
    return idlewave_start(0, 1);
  });
  EXPECT_THAT(rank.noted(), HasSubstr("/dev/null"));
  EXPECT_THAT(rank.noted(), Not(HasSubstr("hosts-file")));
}

TEST(AgentStart, GivesTheAgentItsSignalsBack) {
  const RankWithScript rank("sed -n 's/Sig[BI][lg][kn]:.//p' /proc/self/status >$IDLEWAVE_DIR/note; exit 1");
  in_child([] {
    signal(SIGTERM, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
    return idlewave_start(0, 1);
  });
  std::istringstream noted(rank.noted());
  std::uint64_t blocked = 1, ignored = 1;
  noted >> std::hex >> blocked >> ignored;
  EXPECT_EQ(blocked, 0u);
  EXPECT_EQ(ignored & 0x7fffffff, 0u) << "but for 32 and 33, which belong to the C library";
}

volatile std::sig_atomic_t children_heard_of = 0;

TEST(AgentStart, HidesTheChildFromItsHost) {
  const RankWithScript rank("echo >$IDLEWAVE_DIR/note; exit 1");
  const int status = in_child([] {
    struct sigaction action {};
    action.sa_handler = [](int) { children_heard_of = children_heard_of + 1; };
    sigaction(SIGCHLD, &action, nullptr);
    idlewave_start(0, 1);
    if (children_heard_of != 0) return 1;
    if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return 2;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGCHLD) || sigismember(&mask, SIGTERM) ? 3 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rank.noted(), "\n");
}

TEST(AgentStart, RunsNoForkHandlerOfItsHost) {
  const RankWithScript rank("exit 1");
  static bool ran = false;
  EXPECT_EQ(in_child([] {
              pthread_atfork([] { ran = true; }, nullptr, nullptr);
              idlewave_start(0, 1);
              return ran ? 1 : 0;
            }),
            0);
}

TEST(AgentStart, LeavesTheProbeOffWithoutAProgram) {
  const RankWithScript rank("exit 1");
  setenv("IDLEWAVE_AGENT", "/nowhere/idlewave-agent", 1);
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1); }), 0);
}

TEST(AgentStart, GivesUpOnAnAgentThatNeverAppears) {
  const RankWithScript rank("exit 0");
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1); }), 0);
  EXPECT_THAT(rank.trouble(), HasSubstr("has not appeared"));
}

TEST(AgentStart, EndsAProgramThatDoesNotGoIntoTheBackground) {
  const RankWithScript rank("echo $$ >$IDLEWAVE_DIR/note; exec sleep 1000");
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1); }), 0);
  EXPECT_EQ(kill(std::stoi(rank.noted()), 0), -1);
  EXPECT_THAT(rank.trouble(), HasSubstr("did not go into the background"));
}

TEST(AgentStart, LearnsHowTheProgramEndedThoughItsHostIgnoresChildren) {
  const RankWithScript rank("echo broken as ordered >&2; exit 1");
  in_child([] {
    signal(SIGCHLD, SIG_IGN);
    return idlewave_start(0, 1);
  });
  EXPECT_THAT(rank.trouble(), HasSubstr("broken as ordered"));
}

#ifdef AGENT_PROGRAM

class RealAgent : public SessionRoot {
 public:
  RealAgent() {
    setenv("IDLEWAVE_SESSION", "test", 1);
    setenv("IDLEWAVE_AGENT", AGENT_PROGRAM, 1);
  }
  ~RealAgent() {
    session::AgentRecord agent;
    if (session::read_agent_record("test", agent) && session::is_alive(agent)) kill(agent.pid, SIGTERM);
    while (session::is_alive(agent)) usleep(1000);
  }
};

TEST(RealAgent, IsStartedByOneOfManyRanks) {
  const RealAgent session;
  std::vector<pid_t> ranks;
  for (int rank = 0; rank < 12; ++rank) {
    const pid_t child = fork();
    if (child == 0) {
      const int on = idlewave_start(rank, 12);
      usleep(100'000);
      exit(on - 1);
    }
    ranks.push_back(child);
  }
  for (const pid_t rank : ranks) {
    int status = -1;
    waitpid(rank, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int agents = 0;
  session::for_each_live_session(
      [](const char*, const session::AgentRecord&, void* count) { ++*static_cast<int*>(count); }, &agents);
  EXPECT_LE(agents, 1);
}

TEST(RealAgent, IsFoundByALaterRank) {
  const RealAgent session;
  const pid_t first_rank = fork();
  if (first_rank == 0) {
    idlewave_start(0, 2);
    pause();
  }
  session::AgentRecord first, second;
  while (!session::read_agent_record("test", first)) usleep(1000);
  EXPECT_EQ(in_child([] { return idlewave_start(1, 2) - 1; }), 0);
  EXPECT_TRUE(session::read_agent_record("test", second));
  EXPECT_EQ(first.pid, second.pid);
  kill(first_rank, SIGKILL);
  waitpid(first_rank, nullptr, 0);
}

TEST(RealAgent, IsReplacedWhenItWasKilled) {
  const RealAgent session;
  session::AgentRecord first;
  ASSERT_EQ(in_child([] { return idlewave_start(0, 1) - 1; }), 0);
  if (session::read_agent_record("test", first)) kill(first.pid, SIGKILL);
  while (session::is_alive(first)) usleep(1000);
  EXPECT_EQ(in_child([] { return idlewave_start(0, 1) - 1; }), 0);
}

TEST(RealAgent, IsStartedByARankThatIgnoresChildren) {
  const RealAgent session;
  EXPECT_EQ(in_child([] {
              signal(SIGCHLD, SIG_IGN);
              if (idlewave_start(0, 1) != 1) return 1;
              struct sigaction now {};
              sigaction(SIGCHLD, nullptr, &now);
              return now.sa_handler == SIG_IGN ? 0 : 2;
            }),
            0);
}

/// Which may wait, with the rank still running, until no child of its is left.
TEST(RealAgent, IsNoChildOfARankThatTakesInOrphans) {
  const RealAgent session;
  EXPECT_EQ(in_child([] {
              prctl(PR_SET_CHILD_SUBREAPER, 1);
              if (idlewave_start(0, 1) != 1) return 1;
              if (waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD) return 2;
              int takes_in = 0;
              prctl(PR_GET_CHILD_SUBREAPER, &takes_in);
              return takes_in == 1 ? 0 : 3;
            }),
            0);
}

#endif

}  // namespace
}  // namespace idlewave::client
