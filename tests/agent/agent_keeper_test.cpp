// The agent that ranks start by themselves, in the background: who keeps it, and what becomes of its ranks when it or
// its keeper is killed.

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/agent/stage.h"

namespace idlewave::test {
namespace {

using testing::HasSubstr;

session::AgentRecord record_of_play() {
  session::AgentRecord record;
  EXPECT_TRUE(eventually([&] { return session::read_agent_record("play", record) && session::is_alive(record); }));
  return record;
}

/// Ends what a session's ranks have started, also if a test fails.
class BackgroundSession : public SessionRoot {
 public:
  ~BackgroundSession() {
    session::AgentRecord record;
    while (session::read_agent_record("play", record) && session::is_alive(record)) {
      kill(record.pid, SIGTERM);
      usleep(2000);
    }
  }
  std::string log() const {
    std::ostringstream text;
    text << std::ifstream(folder() / "agent.log").rdbuf();
    return text.str();
  }
};

bool is_gone(pid_t pid) { return session::process_start_time(pid) == 0; }

/// By its name, since a sanitizer has children, too. 0: none.
pid_t agent_of(pid_t keeper) {
  const std::string id = std::to_string(keeper);
  std::ifstream children("/proc/" + id + "/task/" + id + "/children");
  for (pid_t child = 0; children >> child;) {
    std::string name;
    if (std::getline(std::ifstream("/proc/" + std::to_string(child) + "/comm"), name) && name == "idlewave-agent")
      return child;
  }
  return 0;
}

/// The agent that stands in for one that was killed, as soon as monitors can attach to it.
pid_t kill_and_meet_successor(pid_t agent) {
  ::kill(agent, SIGKILL);
  pid_t successor = 0;
  EXPECT_TRUE(eventually([&] {
    Monitor monitor(Monitor::Joins::kLate);
    const Nanoseconds limit = now() + std::chrono::seconds(2);
    while (monitor.rosters().empty() && now() < limit) monitor.look();
    if (!monitor.rosters().empty()) successor = monitor.roster().agent_pid;
    return successor != 0 && successor != agent;
  }));
  return successor;
}

TEST(KeptAgent, IsStartedAnewWhenItWasKilledUnderItsRanks) {
  const BackgroundSession root;
  PlayedRank rank("step", 0, 1);
  ASSERT_TRUE(rank.joined());
  const session::AgentRecord keeper = record_of_play();
  Nanoseconds last{};
  std::uint64_t step = 0;
  pid_t agent = 0;
  {
    Monitor monitor;
    ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStep) > 10; }));
    agent = monitor.roster().agent_pid;
    last = monitor.lane(0).back().time;
    step = monitor.count(0, EventKind::kStep) - 1;
  }
  EXPECT_NE(agent, keeper.pid);
  EXPECT_NE(kill_and_meet_successor(agent), agent);
  Monitor monitor(Monitor::Joins::kLate);
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStep) > 10; }));
  EXPECT_EQ(record_of_play().pid, keeper.pid);
  EXPECT_EQ(monitor.roster().ranks.size(), 1u);
  EXPECT_EQ(monitor.roster().ranks[0].pid, rank.pid());
  EXPECT_GE(monitor.lane(0).front().time, last) << "times of a lane never go back";
  for (const Event& event : monitor.lane(0)) {
    EXPECT_TRUE(event.kind != EventKind::kStep || event.value > step) << event.value;
  }
  EXPECT_THAT(root.log(), HasSubstr("was ended by signal 9"));
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
  EXPECT_TRUE(eventually([&] { return is_gone(keeper.pid); }));
}

TEST(KeptAgent, ThatWasStoppedGoesOnWithItsKeeper) {
  const BackgroundSession root;
  PlayedRank rank("step", 0, 1);
  ASSERT_TRUE(rank.joined());
  const session::AgentRecord keeper = record_of_play();
  pid_t agent = 0;
  ASSERT_TRUE(eventually([&] { return (agent = agent_of(keeper.pid)) != 0; }));
  const auto state = [&] {
    std::string text;
    std::getline(std::ifstream("/proc/" + std::to_string(agent) + "/stat"), text);
    return text.at(text.rfind(')') + 2);
  };
  ::kill(agent, SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state() == 'T'; }));
  ::kill(keeper.pid, SIGCONT);
  EXPECT_TRUE(eventually([&] { return state() != 'T'; }));
}

TEST(KeptAgent, KnowsWhomRanksWaitForThoughItsPredecessorWasTold) {
  const BackgroundSession root;
  PlayedRank first("step", 0, 2), second("step", 1, 2);
  ASSERT_TRUE(first.joined() && second.joined());
  record_of_play();
  pid_t agent = 0;
  {
    Monitor monitor;
    ASSERT_TRUE(monitor.until(
        [&] { return monitor.count(0, EventKind::kPartners) + monitor.count(1, EventKind::kPartners) == 2; }));
    agent = monitor.roster().agent_pid;
  }
  kill_and_meet_successor(agent);
  Monitor monitor(Monitor::Joins::kLate);
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && monitor.roster().ranks.size() == 2; }));
  EXPECT_EQ(monitor.roster().cycles.size(), 1u);
  for (const wire::RankInfo& info : monitor.roster().ranks) EXPECT_EQ(info.cycle, 1u) << "rank " << info.rank;
}

TEST(KeptAgent, TellsWhatRanksWroteWhileThereWasNone) {
  const BackgroundSession root;
  PlayedRank stays("stay", 0, 2);
  const session::AgentRecord keeper = record_of_play();
  pid_t agent = 0;
  {
    Monitor monitor;
    ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && !monitor.lane(0).empty(); }));
    agent = monitor.roster().agent_pid;
  }
  ::kill(keeper.pid, SIGSTOP);
  ::kill(agent, SIGKILL);
  PlayedRank counts("count", 1, 2, {"1000", "1"});
  counts.wait_until_done();
  ::kill(keeper.pid, SIGCONT);
  Monitor monitor(Monitor::Joins::kLate);
  EXPECT_TRUE(monitor.until([&] { return numbers_of(monitor.lane(1)).size() == 1000; }));
  EXPECT_EQ(monitor.count(1, EventKind::kDropped), 0u);
}

TEST(KeptAgent, DoesNotHoldARankThatItsPredecessorHeld) {
  setenv("IDLEWAVE_ALLOW_INJECT", "1", 1);
  const BackgroundSession root;
  PlayedRank rank("step", 0, 1);
  unsetenv("IDLEWAVE_ALLOW_INJECT");
  pid_t agent = 0;
  {
    Monitor monitor;
    ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
    monitor.command({1, {0}, wire::DelayOrder{std::chrono::hours(1)}});
    ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayBegin) == 1; }));
    agent = monitor.roster().agent_pid;
  }
  kill_and_meet_successor(agent);
  Monitor monitor(Monitor::Joins::kLate);
  EXPECT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStep) > 10; }));
}

TEST(KeptAgent, GoesOnWhenItsKeeperWasKilledAndRanksStillFindIt) {
  const BackgroundSession root;
  PlayedRank first("stay", 0, 2);
  const session::AgentRecord keeper = record_of_play();
  Monitor monitor;
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && !monitor.lane(0).empty(); }));
  ::kill(keeper.pid, SIGKILL);
  ASSERT_TRUE(eventually([&] { return is_gone(keeper.pid); }));
  PlayedRank second("count", 1, 2, {"100", "1"});
  ASSERT_TRUE(second.joined());
  EXPECT_EQ(record_of_play().pid, monitor.roster().agent_pid);
  first.leave();
  second.leave();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(numbers_of(monitor.lane(1)).size(), 100u);
  EXPECT_TRUE(eventually([&] { return is_gone(monitor.roster().agent_pid); }));
}

TEST(KeptAgent, LetsGoOfItsRanksWhenItIsKilledTogetherWithItsKeeper) {
  setenv("IDLEWAVE_ALLOW_INJECT", "1", 1);
  const BackgroundSession root;
  PlayedRank rank("step", 0, 1);
  unsetenv("IDLEWAVE_ALLOW_INJECT");
  Monitor monitor;
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  monitor.command({1, {0}, wire::DelayOrder{std::chrono::hours(1)}});
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kDelayBegin) == 1; }));
  ::kill(record_of_play().pid, SIGKILL);
  ::kill(monitor.roster().agent_pid, SIGKILL);
  rank.leave();
}

TEST(KeptAgent, EndsTheStreamProperlyWhenItsKeeperIsTold) {
  const BackgroundSession root;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  rank.wait_until_done();
  const session::AgentRecord keeper = record_of_play();
  Monitor monitor;
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty(); }));
  ::kill(keeper.pid, SIGTERM);
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(numbers_of(monitor.lane(0)).size(), 1000u);
  EXPECT_TRUE(eventually([&] { return is_gone(keeper.pid) && !exists(root.folder()); }));
}

TEST(KeptAgent, IsNotStartedForEverWhenEachOneDies) {
  const BackgroundSession root;
  PlayedRank rank("stay", 0, 1);
  const session::AgentRecord keeper = record_of_play();
  ASSERT_TRUE(eventually([&] {
    const pid_t agent = agent_of(keeper.pid);
    if (agent != 0) ::kill(agent, SIGKILL);
    return is_gone(keeper.pid);
  }));
  EXPECT_FALSE(session::is_alive(keeper));
  rank.leave();
}

TEST(KeptAgent, DoesNotWaitLongForARankThatNeverComes) {
  const BackgroundSession root;
  Process start({IDLEWAVE_AGENT_PROGRAM, "--session", "play", "--detach"});
  ASSERT_EQ(start.exit_code(), 0);
  EXPECT_TRUE(eventually([&] { return !exists(root.folder()); }));
}

}  // namespace
}  // namespace idlewave::test
