// The life of a real agent among real ranks, monitors and other agents.

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "probe/agent/agent.h"
#include "probe/agent/calibration.h"
#include "probe/session/directory.h"
#include "probe/shm/clock.h"
#include "tests/agent/stage.h"
#include "tests/outlet/keyring.h"
#include "tests/sanitized.h"

namespace idlewave::test {
namespace {

using testing::HasSubstr;

TEST(Agent, LeavesOnlyAFolderWhenKilledAndTheNextStartSweepsIt) {
  const SessionRoot root;
  {
    AgentProcess agent;
    agent.kill(SIGKILL);
    agent.exit_code();
  }
  ASSERT_TRUE(exists(root.folder()));
  Process next({IDLEWAVE_AGENT_PROGRAM, "--session", "other"});
  ASSERT_TRUE(eventually([&] { return exists(root.folder("other") / "agent"); }));
  EXPECT_FALSE(exists(root.folder()));
}

TEST(Agent, TakesOverTheFolderOfAKilledOne) {
  const SessionRoot root;
  {
    AgentProcess killed;
    killed.kill(SIGKILL);
    killed.exit_code();
  }
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("stay", 0, 1);
  EXPECT_TRUE(rank.joined());
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
}

TEST(Agent, IsTheOnlyOneOfItsSession) {
  const SessionRoot root;
  std::vector<std::unique_ptr<Process>> racers;
  for (int i = 0; i < 8; ++i) {
    racers.push_back(std::make_unique<Process>(std::vector<std::string>{IDLEWAVE_AGENT_PROGRAM, "--session", "play"}));
  }
  const auto running = [&] {
    return std::count_if(racers.begin(), racers.end(), [](auto& racer) { return racer->running(); });
  };
  ASSERT_TRUE(eventually([&] { return running() <= 1; }));
  EXPECT_EQ(running(), 1);
  for (auto& racer : racers) {
    if (racer->running()) continue;
    EXPECT_EQ(racer->exit_code(), 0);
    EXPECT_THAT(racer->line(), HasSubstr("session play has an agent already"));
  }
}

TEST(Agent, IsNotTakenToBeThereWhereItHasTheFolderButCanNotBegin) {
  const SessionRoot root;
  std::filesystem::create_directories(root.folder() / "agent");  // Where its record would be.
  std::filesystem::permissions(root.folder(), std::filesystem::perms::owner_all);
  std::vector<std::unique_ptr<Process>> racers;
  for (int i = 0; i < 8; ++i) {
    racers.push_back(std::make_unique<Process>(std::vector<std::string>{IDLEWAVE_AGENT_PROGRAM, "--session", "play"}));
  }
  for (auto& racer : racers) {
    EXPECT_EQ(racer->exit_code(), 1);
    EXPECT_THAT(racer->line(), HasSubstr("can't write to "));
  }
}

TEST(Agent, IsStartedByTheFirstRankAndEndsAfterTheLast) {
  const SessionRoot root;
  PlayedRank first("stay", 0, 2);
  ASSERT_TRUE(first.joined());
  PlayedRank second("stay", 1, 2);
  ASSERT_TRUE(second.joined());
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("play", record));
  Monitor monitor;
  first.leave();
  second.leave();
  EXPECT_TRUE(monitor.until_end());
  EXPECT_TRUE(eventually([&] { return !session::is_alive(record); }));
  EXPECT_FALSE(exists(root.folder()));
}

TEST(Agent, IsSucceededByAnotherWhenARankComesAfterItsEnd) {
  const SessionRoot root;
  AgentProcess agent;
  PlayedRank first("stay", 0, 1);
  first.leave();
  // It has closed its door, and waits two seconds for a monitor.
  session::AgentRecord record;
  ASSERT_TRUE(eventually([&] { return !session::read_agent_record("play", record); }));
  PlayedRank late("count", 0, 1, {"100", "1"});
  ASSERT_TRUE(late.joined());
  ASSERT_TRUE(session::read_agent_record("play", record));
  EXPECT_NE(record.pid, agent.pid());
  Monitor monitor;
  EXPECT_EQ(agent.exit_code(), 0);
  late.leave();
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(numbers_of(monitor.lane(0)).size(), 100u);
  EXPECT_TRUE(eventually([&] { return !exists(root.folder()); }));
}

TEST(Agent, LeavesTheFolderToAMonitorThatHasItsSocketThere) {
  const SessionRoot root;
  AgentProcess agent;
  std::ofstream(root.folder() / "monitor.sock").close();
  PlayedRank rank("stay", 0, 1);
  rank.leave();
  EXPECT_EQ(agent.exit_code(), 0);
  EXPECT_TRUE(exists(root.folder() / "monitor.sock"));
  EXPECT_FALSE(exists(root.folder() / "agent.sock"));
  EXPECT_FALSE(exists(root.folder() / "agent"));
}

TEST(Agent, EndsTheStreamProperlyOnSigterm) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  rank.wait_until_done();
  agent.kill(SIGTERM);
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(numbers_of(monitor.lane(0)).size(), 1000u);
  EXPECT_EQ(agent.exit_code(), 0);
  EXPECT_FALSE(exists(root.folder()));
}

TEST(Agent, SeesItsRanksToTheirEndWhereASignalEndsAllOfThem) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("stay", 0, 1);
  ASSERT_TRUE(monitor.until([&] { return !monitor.lane(0).empty(); }));
  agent.kill(SIGTERM);
  rank.kill(SIGKILL);
  ASSERT_TRUE(monitor.until_end());
  EXPECT_EQ(monitor.count(0, EventKind::kLost), 1u);
}

TEST(Agent, IgnoresWhatATerminalSends) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("stay", 0, 1);
  for (const int number : {SIGINT, SIGHUP, SIGPIPE}) agent.kill(number);
  rank.leave();
  EXPECT_TRUE(monitor.until_end());
}

TEST(Agent, EndsWithItsLastRankWhenTheFolderAboveItsOwnIsGone) {
  const SessionRoot root;
  const std::filesystem::path above = root.folder("above");
  create_directory(above);
  permissions(above, std::filesystem::perms::owner_all);
  setenv("IDLEWAVE_DIR", (above / "root").c_str(), 1);
  AgentProcess agent;
  PlayedRank rank("stay", 0, 1);
  remove_all(above);
  rank.leave();
  EXPECT_EQ(agent.exit_code(), 0);
  EXPECT_FALSE(exists(above));
}

TEST(Agent, EndsWithItsLastRankWhenOthersMayWriteToItsFolder) {
  const SessionRoot root;
  AgentProcess agent;
  PlayedRank rank("stay", 0, 1);
  permissions(root.folder(), std::filesystem::perms::all);
  rank.leave();
  EXPECT_EQ(agent.exit_code(), 0);
}

TEST(Agent, EndsThoughSomebodyHoldsTheLockForEver) {
  const SessionRoot root;
  AgentProcess agent;
  PlayedRank rank("stay", 0, 1);
  const int lock = session::lock_session("play", 1000);
  ASSERT_GE(lock, 0);
  rank.leave();
  EXPECT_EQ(agent.exit_code(), 0);
  close(lock);
}

TEST(Agent, SaysInTheSessionsFolderWhyItFindsNoMonitor) {
  const SessionRoot root;
  const std::string endpoint = "ipc://" + root.folder("nobody.sock").string();
  AgentProcess agent({"--connect", endpoint});
  EXPECT_TRUE(eventually([&] {
    std::string line;
    std::getline(std::ifstream(root.folder() / "trouble.log"), line);
    return line.find("found no monitor at " + endpoint + " for 5 s: no such file or directory") != std::string::npos;
  }));
}

TEST(Agent, SaysInTheSessionsFolderThatItsKeyIsOfAnotherSession) {
  const SessionRoot root;
  const Keyring ring, other;
  auto link =
      link::open_live({.session = "play", .endpoint = "tcp://127.0.0.1:*", .listen = true, .key = ring.files.server});
  ASSERT_TRUE(link) << link.error().message;
  AgentProcess agent({"--connect", link::bound_endpoint(**link), "--key", other.files.agents});
  EXPECT_TRUE(eventually([&] {
    std::string line;
    std::getline(std::ifstream(root.folder() / "trouble.log"), line);
    return line.find("the agent was not let in: tcp://127.0.0.1:") != std::string::npos &&
           line.find("our key does not fit") != std::string::npos;
  }));
}

/// To its end, with nobody there; returns by then.
void run_for_nobody(Nanoseconds patience, bool no_more_ranks) {
  agent::Options options;
  options.session = "play";
  options.patience = patience;
  auto post = agent::Post::take(options);
  ASSERT_TRUE(post);
  auto agent = agent::Agent::open(options, std::move(**post));
  ASSERT_TRUE(agent);
  const std::atomic<bool> never{false}, told{no_more_ranks};
  (*agent)->run(never, told);
}

TEST(Agent, GoesAwayWhenNoRankComes) {
  const SessionRoot root;
  run_for_nobody(std::chrono::milliseconds(100), false);
  EXPECT_FALSE(exists(root.folder()));
}

TEST(Agent, GoesAwayAtOnceWhenNoRankWillComeAnyMore) {
  const SessionRoot root;
  run_for_nobody(std::chrono::hours(1), true);
  EXPECT_FALSE(exists(root.folder()));
}

/// As the first rank has it where memory is limited for good (ulimit -v; of what is shared also by -f), and with it the
/// agent that this starts.
class LimitedAgent : public Process {
 public:
  explicit LimitedAgent(const std::string& limit)
      : Process({"/bin/sh", "-c", "ulimit " + limit + "; exec \"$IDLEWAVE_AGENT\" --session play"}) {
    EXPECT_TRUE(eventually([this] {
      session::AgentRecord record;
      return !running() || (session::read_agent_record("play", record) && record.pid == pid());
    }));
  }
};

TEST(Agent, HasRoomForFewerRanksWhereItMayHaveNoMoreMemory) {
  if (tests::kSanitized) GTEST_SKIP() << "takes all addresses itself";
  const SessionRoot root;
  for (const char* limit : {"-v 400000", "-v 1000000", "-v 1420000", "-f 20000", "-f 400000"}) {
    LimitedAgent agent(limit);
    ASSERT_TRUE(agent.running()) << agent.line();
    Monitor monitor;
    PlayedRank first("stay", 0, 2), second("stay", 1, 2);
    EXPECT_TRUE(first.joined() && second.joined()) << limit;
    first.leave();
    second.leave();
    EXPECT_TRUE(monitor.until_end());
    EXPECT_EQ(agent.exit_code(), 0);
  }
}

TEST(Agent, SaysHowToGetMemoryWhereThereIsNoneForOneRank) {
  if (tests::kSanitized) GTEST_SKIP() << "takes all addresses itself";
  const SessionRoot root;
  for (const auto& [limit, how] : {std::pair{"-v 60000", "ulimit -v"}, std::pair{"-f 100", "ulimit -f"}}) {
    LimitedAgent agent(limit);
    EXPECT_EQ(agent.exit_code(), 1);
    EXPECT_THAT(agent.line(), HasSubstr(how));
  }
}

TEST(Agent, SaysWhatIsWrongWithItsArguments) {
  const SessionRoot root;
  const auto complains = [](std::vector<std::string> words, int code) {
    words.insert(words.begin(), IDLEWAVE_AGENT_PROGRAM);
    Process agent(words);
    EXPECT_EQ(agent.exit_code(), code) << agent.line();
    return agent.line();
  };
  EXPECT_THAT(complains({}, 2), HasSubstr("--session"));
  EXPECT_THAT(complains({"--session", "a/b"}, 1), HasSubstr("session name \"a/b\""));
  EXPECT_THAT(complains({"--session", "s", "--connect", "tcp://127.0.0.1:1"}, 1), HasSubstr("--key"));
  EXPECT_THAT(complains({"--session", "s", "--connect", "tcp://127.0.0.1:1", "--key", "/no/key"}, 1),
              HasSubstr("/no/key"));
  EXPECT_THAT(complains({"--session", "s", "--listen", "tcp://127.0.0.1:*"}, 1), HasSubstr("key.server"));
  EXPECT_THAT(complains({"--session", "s", "--ring-events", "100"}, 2), HasSubstr("power of two"));
  EXPECT_THAT(complains({"--session", "s", "--buffer", "256"}, 2), HasSubstr("unit"));
  EXPECT_THAT(complains({"--session", "s", "--slots", "0"}, 2), HasSubstr("--slots"));
  EXPECT_THAT(complains({"--session", "s", "--listen", "nonsense"}, 1), HasSubstr("nonsense"));
  EXPECT_THAT(complains({"--session", "s", "--detach", "--listen", "nonsense"}, 1), HasSubstr("nonsense"));
}

TEST(Agent, ReportsOverTcpWithTheKeyOfItsSession) {
  const SessionRoot root;
  const Keyring ring;
  auto link =
      link::open_live({.session = "play", .endpoint = "tcp://127.0.0.1:*", .listen = true, .key = ring.files.server});
  ASSERT_TRUE(link) << link.error().message;
  AgentProcess agent({"--connect", link::bound_endpoint(**link), "--key", ring.files.agents});
  PlayedRank rank("stay", 0, 1);
  std::vector<link::Delivery> got;
  EXPECT_TRUE(eventually([&] {
    (*link)->receive(now(), got);
    return !got.empty();
  }));
  rank.leave();
}

TEST(Agent, IsWatchedOverTcpWithAKeyOfItsSession) {
  const SessionRoot root;
  const Keyring ring;
  AgentProcess agent({"--listen", "tcp://127.0.0.1:*", "--key", ring.files.server});
  PlayedRank rank("stay", 0, 1);
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("play", record));
  auto link = link::open_live({.endpoint = record.endpoint, .key = ring.files.viewers});
  ASSERT_TRUE(link) << link.error().message;
  std::vector<link::Delivery> got;
  EXPECT_TRUE(eventually([&] {
    (*link)->receive(now(), got);
    return !got.empty();
  }));
  EXPECT_EQ((*link)->status().no_command, wire::NoCommand::kSpectator);
  rank.leave();
}

/// How far a clock is from the kernel's: the least of many readings, since this thread may lose its processor between
/// the two.
Nanoseconds apart(const shm::Clock& clock) {
  auto least = Nanoseconds::max();
  for (int i = 0; i < 1000; ++i)
    least = std::min(least, Nanoseconds(std::abs((shm::now(clock) - shm::monotonic_now()).count())));
  return least;
}

void expect_it_follows_the_kernels(const shm::Clock& clock) {
  EXPECT_LT(apart(clock), std::chrono::microseconds(5));
  usleep(300'000);
  EXPECT_LT(apart(clock), std::chrono::microseconds(30));
}

TEST(NodeClock, FollowsTheMonotonicClock) { expect_it_follows_the_kernels(agent::calibrate_clock()); }

TEST(NodeClock, FollowsItFromAReadingOfLongerAgo) {
  const shm::ClockReading earlier = shm::read_both_clocks();
  usleep(100'000);
  expect_it_follows_the_kernels(agent::calibrate_clock(earlier));
}

TEST(NodeClock, PassesOverReadingsThatCanNotBeOfThisMachine) {
  const shm::ClockReading earlier = shm::read_both_clocks();
  usleep(100'000);
  const std::uint64_t millisecond = (shm::read_both_clocks().counter - earlier.counter) / 100;
  const std::int64_t an_hour = 3'600'000'000'000;
  for (const shm::ClockReading& strange :
       {shm::ClockReading{earlier.counter + millisecond, earlier.ns}, shm::ClockReading{0, earlier.ns},
        shm::ClockReading{earlier.counter, earlier.ns - an_hour},
        shm::ClockReading{earlier.counter, earlier.ns + an_hour}, shm::ClockReading{~std::uint64_t{0}, 0},
        shm::ClockReading{0, std::numeric_limits<std::int64_t>::min()},
        shm::ClockReading{0, std::numeric_limits<std::int64_t>::max()}}) {
    SCOPED_TRACE(strange.ns);
    expect_it_follows_the_kernels(agent::calibrate_clock(strange));
  }
}

TEST(NodeClock, IsKnownSoonerToAnAgentThatARankHasStarted) {
  const SessionRoot root;
  PlayedRank rank("stay", 0, 1);
  ASSERT_TRUE(rank.joined());
  session::AgentRecord record;
  ASSERT_TRUE(session::read_agent_record("play", record));
  std::ifstream words("/proc/" + std::to_string(record.pid) + "/cmdline");
  std::string command_line((std::istreambuf_iterator<char>(words)), {});
  std::replace(command_line.begin(), command_line.end(), '\0', ' ');
  EXPECT_THAT(command_line, testing::ContainsRegex("--clock [0-9]+:[0-9]+"));
  rank.leave();
}

TEST(NodeClock, IsNoWordThatCanNotBeReadAsOne) {
  for (const char* word : {"", "1", "1:", ":1", "1:2:3", "1:x", "99999999999999999999:1"}) {
    Process agent({IDLEWAVE_AGENT_PROGRAM, "--session", "play", "--clock", word});
    EXPECT_THAT(agent.line(), HasSubstr("COUNTER:NANOSECONDS")) << word;
    EXPECT_EQ(agent.exit_code(), 2) << word;
  }
}

}  // namespace
}  // namespace idlewave::test
