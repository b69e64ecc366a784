#include "probe/wire/session_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "probe/wire/agent_record.h"
#include "probe/wire/session_sweep.h"
#include "probe/wire/trouble_log.h"
#include "tests/probe/node.h"

namespace idlewave::wire {
namespace {

namespace fs = std::filesystem;
using test::SessionRoot;
using testing::ElementsAre;
using testing::EndsWith;
using testing::MatchesRegex;

AgentRecord record_of(pid_t pid) {
  AgentRecord record;
  record.pid = pid;
  record.start = process_start_time(pid);
  record.memory_fd = 7;
  strcpy(record.endpoint, "ipc:///tmp/x/agent.sock");
  return record;
}

AgentRecord record_of_the_dead() {
  AgentRecord record = record_of(getpid());
  record.start += 1;  // This pid, but another process.
  return record;
}

void make_session(const char* name, const AgentRecord& record) {
  ASSERT_TRUE(make_session_directory(name));
  ASSERT_TRUE(write_agent_record(name, record));
}

void write_text(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

class Listener {
 public:
  explicit Listener(const fs::path& path) : fd_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    strcpy(address.sun_path, path.c_str());
    if (bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(fd_, 1) != 0) std::abort();
  }
  ~Listener() { close(fd_); }

 private:
  int fd_;
};

TEST(SessionName, TakesLettersDigitsAndThreeSigns) {
  for (const char* name : {"a", "Run-7_b.2", "0"}) EXPECT_TRUE(valid_session_name(name)) << name;
  EXPECT_TRUE(valid_session_name(std::string(48, 'x').c_str()));
}

TEST(SessionName, RefusesWhatCouldLeaveTheFolder) {
  for (const char* name : {"", ".", "..", ".hidden", "a/b", "../x", "a b", "a\n", "\xc3\xa4", "a;b"}) {
    EXPECT_FALSE(valid_session_name(name)) << name;
  }
  EXPECT_FALSE(valid_session_name(nullptr));
  EXPECT_FALSE(valid_session_name(std::string(49, 'x').c_str()));
}

TEST(SessionDirectory, IsMadeForItsUserAlone) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  EXPECT_EQ(fs::status(root.path() / "s").permissions(), fs::perms::owner_all);
  EXPECT_TRUE(make_session_directory("s")) << "a second time";
}

TEST(SessionDirectory, IsRefusedInARootThatOthersCanWrite) {
  const SessionRoot root;
  fs::permissions(root.path(), fs::perms::all);
  EXPECT_FALSE(make_session_directory("s"));
}

TEST(SessionDirectory, IsRefusedInARootOfAnotherUser) {
  const SessionRoot root;
  if (geteuid() != 0) {
    setenv("IDLEWAVE_DIR", "/usr", 1);
  } else {
    ASSERT_EQ(chown(root.path().c_str(), 12345, 12345), 0);
  }
  EXPECT_FALSE(make_session_directory("s"));
}

TEST(SessionDirectory, IsRefusedThroughALink) {
  const SessionRoot root;
  fs::create_directory(root.path() / "real");
  fs::create_directory_symlink(root.path() / "real", root.path() / "link");
  setenv("IDLEWAVE_DIR", (root.path() / "link").c_str(), 1);
  EXPECT_FALSE(make_session_directory("s"));
}

TEST(SessionDirectory, IsRefusedUnderARelativeRoot) {
  const SessionRoot root;
  setenv("IDLEWAVE_DIR", "somewhere", 1);
  char path[kSessionPathLimit];
  EXPECT_FALSE(session_path("s", path));
}

TEST(SessionDirectory, IsRefusedWhenItsPathLeavesNoRoomForASocket) {
  const SessionRoot root;
  setenv("IDLEWAVE_DIR", ("/tmp/" + std::string(60, 'd')).c_str(), 1);
  char path[kSessionPathLimit];
  EXPECT_TRUE(session_path("s", path));
  EXPECT_FALSE(session_path(std::string(40, 's').c_str(), path));
}

TEST(AgentRecord, ComesBackAsItWasWritten) {
  const SessionRoot root;
  const AgentRecord written = record_of(getpid());
  make_session("s", written);
  AgentRecord read;
  ASSERT_TRUE(read_agent_record("s", read));
  EXPECT_EQ(read.pid, written.pid);
  EXPECT_EQ(read.start, written.start);
  EXPECT_EQ(read.memory_fd, written.memory_fd);
  EXPECT_STREQ(read.endpoint, written.endpoint);
}

TEST(AgentRecord, LeavesNoDraftBehind) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root.path() / "s")) names.push_back(entry.path().filename());
  EXPECT_THAT(names, testing::UnorderedElementsAre("agent", "place"));
}

TEST(AgentRecord, IsNotReadWhenDamaged) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  for (const char* text : {"", "pid 12\n", "pid 12\nstart 34\nmemory 5", "pid x\nstart 34\nmemory 5\n",
                           "pid -1\nstart 34\nmemory 5\n", "pid\n", "pid 12\nstart 0\nmemory 5\n",
                           "pid 12\nstart 34\nmemory -5\n", "pid 99999999999\nstart 34\nmemory 5\n", "\n\n\n"}) {
    write_text(root.path() / "s" / "agent", text);
    AgentRecord read;
    EXPECT_FALSE(read_agent_record("s", read)) << text;
  }
  write_text(root.path() / "s" / "agent", std::string(100'000, 'x') + "\n");
  AgentRecord read;
  EXPECT_FALSE(read_agent_record("s", read)) << "a large file";
}

TEST(AgentRecord, MayHoldKeysOfALaterVersion) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  write_text(root.path() / "s" / "agent", "pid 12\ncolour blue\nstart 34\nmemory 5\nendpoint \n");
  AgentRecord read;
  EXPECT_TRUE(read_agent_record("s", read));
}

TEST(AgentRecord, OfALivingProcessIsAlive) { EXPECT_TRUE(is_alive(record_of(getpid()))); }

TEST(AgentRecord, WithAReusedPidIsNotAlive) { EXPECT_FALSE(is_alive(record_of_the_dead())); }

TEST(AgentRecord, OfAZombieIsNotAlive) {
  const pid_t child = fork();
  if (child == 0) pause();
  const AgentRecord record = record_of(child);
  EXPECT_TRUE(is_alive(record));
  kill(child, SIGKILL);
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_FALSE(is_alive(record));
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_alive(record));
}

TEST(AgentRecord, IsRemovedOnlyByItsOwner) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  remove_agent_record("s", record_of_the_dead());
  EXPECT_TRUE(fs::exists(root.path() / "s" / "agent"));
  remove_agent_record("s", record_of(getpid()));
  EXPECT_FALSE(fs::exists(root.path() / "s" / "agent"));
}

TEST(SessionLock, IsHeldByOneAtATime) {
  const SessionRoot root;
  const int lock = lock_session("s", 0);
  ASSERT_GE(lock, 0);
  EXPECT_LT(lock_session("s", 5), 0);
  close(lock);
  const int again = lock_session("s", 0);
  EXPECT_GE(again, 0);
  close(again);
}

TEST(SessionLock, OfARemovedFolderIsNotTakenForTheNewOne) {
  const SessionRoot root;
  const int old_lock = lock_session("s", 0);
  remove_session_directory("s");
  const int new_lock = lock_session("s", 0);
  EXPECT_GE(new_lock, 0);
  close(old_lock);
  EXPECT_LT(lock_session("s", 0), 0);
  close(new_lock);
}

TEST(Sweep, RemovesASessionWhoseAgentDied) {
  const SessionRoot root;
  make_session("dead", record_of_the_dead());
  write_text(root.path() / "dead" / "agent.sock", "");
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "dead"));
}

TEST(Sweep, SparesTheLivingAndTheOneToKeep) {
  const SessionRoot root;
  make_session("alive", record_of(getpid()));
  make_session("kept", record_of_the_dead());
  sweep_dead_sessions("kept");
  EXPECT_TRUE(fs::exists(root.path() / "alive"));
  EXPECT_TRUE(fs::exists(root.path() / "kept"));
}

TEST(Sweep, SparesASessionThatIsBeingStarted) {
  const SessionRoot root;
  make_session("locked", record_of_the_dead());
  const int lock = lock_session("locked", 0);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "locked"));
  close(lock);
}

TEST(Sweep, SparesAMonitorThatWaitsForItsAgent) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  const Listener monitor(root.path() / "s" / "monitor.sock");
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
}

/// As another machine, or a container, would have made the folder of session "s".
void give_away(const SessionRoot& root, const std::string& machine = "elsewhere") {
  fs::remove(root.path() / "s" / "place");
  fs::create_symlink(machine + " 1f2e/pid:[17]", root.path() / "s" / "place");
}

TEST(SharedRoot, GivesEachPlaceAFolderOfItsOwn) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  give_away(root);
  AgentRecord read;
  EXPECT_FALSE(read_agent_record("s", read)) << "the numbers mean something else there";
  AgentRecord written = record_of(getpid());
  make_session("s", written);
  ASSERT_TRUE(read_agent_record("s", read));
  char folder[kSessionPathLimit];
  ASSERT_TRUE(session_path("s", folder));
  EXPECT_THAT(folder, testing::MatchesRegex(".*/s\\.[0-9a-f]{8}"));
  remove_session_directory("s");
  EXPECT_FALSE(fs::exists(folder));
  EXPECT_TRUE(fs::exists(root.path() / "s" / "agent"));
}

/// As Slurm says it to the processes that it starts.
class NodeOfSlurm {
 public:
  explicit NodeOfSlurm(const char* name) { setenv("SLURMD_NODENAME", name, 1); }
  ~NodeOfSlurm() {
    unsetenv("SLURMD_NODENAME");
    unsetenv("MPI_LOCALRANKID");
  }
  NodeOfSlurm(const NodeOfSlurm&) = delete;
  NodeOfSlurm& operator=(const NodeOfSlurm&) = delete;
};

TEST(SharedRoot, GivesEachNodeOfOneMachineAFolderOfItsOwn) {
  const SessionRoot root;
  std::vector<std::string> folders;
  for (const char* node : {"n1", "n2", "n3"}) {
    const NodeOfSlurm here(node);
    make_session("s", record_of(getpid()));
    char folder[kSessionPathLimit];
    ASSERT_TRUE(session_path("s", folder));
    folders.emplace_back(folder);
  }
  EXPECT_THAT(folders, testing::UnorderedElementsAre(EndsWith("/s"), MatchesRegex(".*/s\\.[0-9a-f]{8}"),
                                                     MatchesRegex(".*/s\\.[0-9a-f]{8}")));
  EXPECT_NE(folders[1], folders[2]);
  const NodeOfSlurm fourth("n4");
  AgentRecord read;
  EXPECT_FALSE(read_agent_record("s", read)) << "an agent of another node";
}

TEST(SharedRoot, KnowsANodeThatSlurmCallsByItsShortName) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  const NodeOfSlurm here(std::string(name, strcspn(name, ".")).c_str());
  AgentRecord read;
  EXPECT_TRUE(read_agent_record("s", read));
}

TEST(SharedRoot, DoesNotTakeHydrasWordForWhichNodeThisIs) {
  const SessionRoot root;
  make_session("s", record_of(getpid()));
  const NodeOfSlurm where_hydra_was_started("n1");
  setenv("MPI_LOCALRANKID", "0", 1);
  AgentRecord read;
  EXPECT_TRUE(read_agent_record("s", read));
}

TEST(SharedRoot, IsSweptByEachPlaceForItself) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  give_away(root);
  make_session("s", record_of_the_dead());
  sweep_dead_sessions(nullptr);
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root.path())) names.push_back(entry.path().filename());
  EXPECT_THAT(names, ElementsAre("s"));
  EXPECT_TRUE(fs::exists(root.path() / "s" / "agent"));
}

TEST(SharedRoot, KeepsTheOneToKeepWhereverItStands) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  give_away(root);
  make_session("s", record_of_the_dead());
  char folder[kSessionPathLimit];
  ASSERT_TRUE(session_path("s", folder));
  note_trouble("s", "nobody started the agent");
  sweep_dead_sessions("s");
  EXPECT_TRUE(fs::exists(fs::path(folder) / "trouble.log"));
}

TEST(SharedRoot, IsSweptOfWhatThisMachineLeftBeforeItWasStartedAnew) {
  const SessionRoot root;
  make_session("s", record_of_the_dead());
  char name[256] = {};
  ASSERT_EQ(gethostname(name, sizeof name - 1), 0);
  give_away(root, name);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(SessionOwner, KeepsItsFolderUntilItLetsGo) {
  const SessionRoot root;
  const int owner = hold_session("s");
  ASSERT_GE(owner, 0);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  close(owner);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s")) << "however young";
}

TEST(SessionOwner, MayBeSeveral) {
  const SessionRoot root;
  const int first = hold_session("s"), second = hold_session("s");
  ASSERT_GE(second, 0);
  close(first);
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  close(second);
}

TEST(SessionOwner, LeavesAFolderWhenKilledThatTheNextStartRemoves) {
  const SessionRoot root;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t monitor = fork();
  if (monitor == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int owner = hold_session("s");
    (void)!write(ready[1], &owner, sizeof owner);
    pause();
  }
  int owner = -1;
  ASSERT_EQ(read(ready[0], &owner, sizeof owner), static_cast<ssize_t>(sizeof owner));
  ASSERT_GE(owner, 0);
  write_text(root.path() / "s" / "monitor.sock", "");
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  kill(monitor, SIGKILL);
  waitpid(monitor, nullptr, 0);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(SessionOwner, NeverHoldsAFolderThatIsSweptAway) {
  const SessionRoot root;
  const pid_t sweeper = fork();
  if (sweeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) sweep_dead_sessions(nullptr);
  }
  for (int i = 0; i < 2000; ++i) {
    const int owner = hold_session("s");
    EXPECT_GE(owner, 0);
    EXPECT_TRUE(fs::exists(root.path() / "s" / "owner")) << "round " << i;
    close(owner);
  }
  kill(sweeper, SIGKILL);
  waitpid(sweeper, nullptr, 0);
}

/// What somebody who was killed has left: enough that its removal takes a while.
void litter(const fs::path& folder) {
  for (int i = 0; i < 200; ++i) close(creat((folder / ("left." + std::to_string(i))).c_str(), 0600));
  write_text(folder / "monitor.sock", "");
}

TEST(SessionOwner, KeepsWhatItPutsIntoAFolderWhoseRemovalHadBegun) {
  const SessionRoot root;
  const fs::path folder = root.path() / "s";
  const pid_t sweeper = fork();
  if (sweeper == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) sweep_dead_sessions(nullptr);
  }
  for (int i = 0; i < 20; ++i) {
    int owner = hold_session("s");
    litter(folder);
    close(owner);
    while (fs::exists(folder / "owner")) continue;
    owner = hold_session("s");
    write_text(folder / "monitor.sock", "");
    usleep(20'000);
    for (const char* name : {"owner", "place", "monitor.sock"})
      EXPECT_TRUE(fs::exists(fs::symlink_status(folder / name))) << name << ", round " << i;
    close(owner);
  }
  kill(sweeper, SIGKILL);
  waitpid(sweeper, nullptr, 0);
}

TEST(SessionOwner, KeepsItsFolderWhenAnotherOneRemovesTheSession) {
  const SessionRoot root;
  const int first = hold_session("s"), second = hold_session("s");
  close(first);
  remove_session_directory("s");
  EXPECT_TRUE(fs::exists(root.path() / "s" / "owner"));
  close(second);
  remove_session_directory("s");
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(SessionOwner, IsRefusedWhereNoFolderCanBeMade) {
  const SessionRoot root;
  setenv("IDLEWAVE_DIR", (root.path() / "gone" / "deeper").c_str(), 1);
  EXPECT_EQ(hold_session("s"), -1);
}

TEST(SessionLock, TellsABusyFolderFromOneThatIsGone) {
  const SessionRoot root;
  EXPECT_EQ(try_lock_session("s"), kNoFolder);
  EXPECT_FALSE(fs::exists(root.path() / "s")) << "made by looking";
  const int lock = lock_session("s", 0);
  EXPECT_EQ(try_lock_session("s"), -1);
  close(lock);
  const int again = try_lock_session("s");
  EXPECT_GE(again, 0);
  close(again);
  fs::permissions(root.path() / "s", fs::perms::all);
  EXPECT_EQ(try_lock_session("s"), kNoFolder) << "others can write to it";
}

TEST(SessionDirectory, WithNothingButLocksIsEmpty) {
  const SessionRoot root;
  const int lock = lock_session("s", 0);
  const int owner = hold_session("s");
  remove_session_directory_if_empty("s");
  EXPECT_TRUE(fs::exists(root.path() / "s")) << "somebody holds it";
  close(owner);
  write_text(root.path() / "s" / "agent.log", "");
  write_text(root.path() / "s" / "monitor.sock", "");
  remove_session_directory_if_empty("s");
  EXPECT_TRUE(fs::exists(root.path() / "s" / "monitor.sock"));
  fs::remove(root.path() / "s" / "monitor.sock");
  remove_session_directory_if_empty("s");
  EXPECT_FALSE(fs::exists(root.path() / "s"));
  close(lock);
}

/// As ranks in a container with a host name of their own have it, whose session's host ends before their agent.
TEST(SessionDirectory, OfASecondPlaceIsFoundAndRemovedWhenThatOfTheFirstHasGone) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("s"));
  setenv("SLURMD_NODENAME", "far", 1);
  ASSERT_TRUE(make_session_directory("s"));
  char before[kSessionPathLimit], after[kSessionPathLimit];
  ASSERT_TRUE(session_path("s", before));
  EXPECT_NE(before, (root.path() / "s").string());
  fs::remove_all(root.path() / "s");
  ASSERT_TRUE(session_path("s", after));
  EXPECT_STREQ(after, before);
  const int lock = lock_session("s", 0);
  remove_session_directory_if_empty("s");
  close(lock);
  unsetenv("SLURMD_NODENAME");
  EXPECT_TRUE(fs::is_empty(root.path()));
}

std::string trouble(const SessionRoot& root) {
  std::ostringstream text;
  text << std::ifstream(root.path() / "s" / "trouble.log").rdbuf();
  return text.str();
}

TEST(MonitorsPlace, IsForOneAtATimeAndFreeAgainAfterwards) {
  const SessionRoot root;
  const int owner = hold_session("s");
  const int first = take_monitors_place("s");
  EXPECT_GE(first, 0);
  EXPECT_EQ(take_monitors_place("s"), -1);
  close(first);
  const int next = take_monitors_place("s");
  EXPECT_GE(next, 0);
  close(next);
  close(owner);
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

TEST(Sweep, SparesAFolderThatWasJustMade) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("young"));
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "young"));
}

TEST(Sweep, RemovesAnOldFolderThatNeverHadAnAgent) {
  const SessionRoot root;
  ASSERT_TRUE(make_session_directory("old"));
  fs::last_write_time(root.path() / "old", fs::file_time_type::clock::now() - std::chrono::hours(1));
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "old"));
}

TEST(Sweep, LeavesAloneWhatIsNoSession) {
  const SessionRoot root;
  write_text(root.path() / "file", "text");
  fs::create_directory(root.path() / ".hidden");
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "file"));
  EXPECT_TRUE(fs::exists(root.path() / ".hidden"));
}

TEST(Sweep, RemovesTheFolderOfAKilledAgent) {
  const SessionRoot root;
  const pid_t agent = fork();
  if (agent == 0) pause();
  make_session("s", record_of(agent));
  sweep_dead_sessions(nullptr);
  EXPECT_TRUE(fs::exists(root.path() / "s"));
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  sweep_dead_sessions(nullptr);
  EXPECT_FALSE(fs::exists(root.path() / "s"));
}

TEST(LiveSessions, AreThoseWithALivingAgent) {
  const SessionRoot root;
  make_session("alive", record_of(getpid()));
  make_session("dead", record_of_the_dead());
  std::vector<std::string> found;
  for_each_live_session([](const char* session, const AgentRecord&,
                           void* names) { static_cast<std::vector<std::string>*>(names)->push_back(session); },
                        &found);
  EXPECT_THAT(found, ElementsAre("alive"));
}

TEST(ProcessStartTime, SurvivesABracketInTheProgramsName) {
  const SessionRoot root;
  const fs::path program = root.path() / "a) Z 1 (b";
  fs::copy_file("/bin/sleep", program);
  const pid_t child = fork();
  if (child == 0) {
    execl(program.c_str(), "sleep", "60", nullptr);
    _exit(127);
  }
  while (fs::read_symlink("/proc/" + std::to_string(child) + "/exe") != program) usleep(1000);
  const std::uint64_t own = process_start_time(getpid());
  const std::uint64_t theirs = process_start_time(child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_GE(theirs, own);
}

}  // namespace
}  // namespace idlewave::wire
