// The real reader program over a stand-in for liblikwid, and over the real one.

#include "probe/sampler/likwid.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

namespace idlewave::sampler {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

Nanoseconds now() {
  return std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch());
}

/// Which library the reader loads, and how the stand-in behaves; for the life of this object.
class Library {
 public:
  explicit Library(const char* behaviour) {
    setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
    setenv("FAKE_LIKWID", behaviour, 1);
    setenv("ASAN_OPTIONS", "handle_segv=0", 0);  // a library that crashes is to end its reader by the signal
  }
  Library() = default;  ///< The real one.
  ~Library() {
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("FAKE_LIKWID");
  }
};

std::vector<std::string> lines_of_reader(const std::string& arguments, std::size_t count) {
  std::vector<std::string> lines;
  FILE* output = popen((std::string(LIKWID_READER) + " " + arguments + " 2>&1").c_str(), "r");
  char line[1024];
  while (lines.size() < count && fgets(line, sizeof line, output) != nullptr)
    lines.emplace_back(line, strcspn(line, "\n"));
  pclose(output);
  return lines;
}

/// A LIKWID that has met a machine of so many domains with two processors each.
struct Started : Likwid {
  explicit Started(int domains, const char* reader = LIKWID_READER, const char* group = "") : Likwid(reader, group) {
    std::vector<MachineDomain> machine;
    for (int id = 0; id < domains; ++id) machine.push_back({id, "", id, {2 * id, 2 * id + 1}});
    meet(machine, now());
  }
  Standing of(DomainId domain) { return standing({domain}, now()); }
  /// Looks until it has failed; the test's own time limit is the guard against a hang.
  std::string failure() {
    while (of(0).why_not.empty()) std::this_thread::sleep_for(milliseconds(5));
    return of(0).why_not;
  }
};

std::string failure_with(const char* behaviour) {
  const Library library(behaviour);
  return Started(2).failure();
}

TEST(Likwid, TouchesNoCounterWhereTheyAreLeftToOthers) {
  Started likwid(2, LIKWID_READER, "none");
  EXPECT_EQ(likwid.of(1).why_not, "LIKWID: the counters are left to others (--likwid-group none)");
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "there is a reader";
}

TEST(LikwidReader, PrintsWhatTheCountersSay) {
  const Library library("");
  const auto lines = lines_of_reader("7:0 9:2", 5);
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(lines[0], "group MEM");
  EXPECT_THAT(lines[1], MatchesRegex("sample 7 0\\.[0-9]* [0-9]*"));
  EXPECT_THAT(lines[2], MatchesRegex("sample 9 0\\.[0-9]* [0-9]*"));
}

TEST(LikwidReader, ScalesBytesByItsTime) {
  const Library library("");
  const auto lines = lines_of_reader("0:0 1:2", 3);
  ASSERT_EQ(lines.size(), 3u);
  int domain = 0;
  double time = 0;
  double bytes = 0;
  ASSERT_EQ(sscanf(lines[2].c_str(), "sample %d %lf %lf", &domain, &time, &bytes), 3);
  EXPECT_NEAR(bytes / time, 2000e6, 2000e6 * 1e-4);
}

TEST(LikwidReader, LetsTwoGroupsTakeTurnsWhereOneCountsHalfTheChannels) {
  const Library library("two groups");
  const auto lines = lines_of_reader("0:0", 3);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "group MEM1+MEM2");
  double time = 0;
  double bytes = 0;
  ASSERT_EQ(sscanf(lines[1].c_str(), "sample 0 %lf %lf", &time, &bytes), 2);
  EXPECT_NEAR(bytes / time, 2000e6, 2000e6 * 1e-4);
}

TEST(LikwidReader, NamesTheGroupsThatThereAreForOneThatCannotBeCountedBy) {
  const Library library("");
  EXPECT_THAT(lines_of_reader("--group MEMORY 0:0", 1),
              testing::ElementsAre("error there is no group MEMORY for Pretended processor; there are FLOPS_DP, L2, "
                                   "MEM, MEM_DP"));
}

/// What the reader prints by `arguments`, `count` lines of it.
std::string said_by_reader(const std::string& arguments, std::size_t count, const char* behaviour = "") {
  const Library library(behaviour);
  std::string said;
  for (const std::string& line : lines_of_reader(arguments, count)) said += line + "\n";
  return said;
}

TEST(LikwidReader, TellsWhatElseAChosenGroupCountsOfAllProcessorsOfADomain) {
  const std::string said = said_by_reader("--group MEM_DP 7:0,1 9:2,3", 15);
  EXPECT_THAT(said, testing::StartsWith("group MEM_DP\n"
                                        "meter 7 2 Power [W]\nmeter 7 3 CPI\nmeter 7 4 DP [MFLOP/s]\n"
                                        "meter 9 2 Power [W]\nmeter 9 3 CPI\nmeter 9 4 DP [MFLOP/s]\n"));
  EXPECT_THAT(said, HasSubstr("\nreading 7 2 50\nreading 7 3 1\nreading 7 4 300\nsample 9 "));
  EXPECT_THAT(said, HasSubstr("\nreading 9 2 100\nreading 9 3 3\nreading 9 4 700\n"));
}

TEST(LikwidReader, LetsAGroupWithoutMemoryBandwidthTakeTurnsWithOneThatHasIt) {
  const std::string said = said_by_reader("--group FLOPS_DP 0:0,1", 10);
  EXPECT_THAT(said, testing::StartsWith("group FLOPS_DP+MEM\nmeter 0 1 Clock [MHz]\nmeter 0 2 CPI\n"));
  EXPECT_THAT(said, HasSubstr("\nreading 0 1 2000\nreading 0 2 1\nreading 0 3 300\nreading 0 4 none\n"));
  double time = 0;
  double bytes = 0;
  ASSERT_EQ(sscanf(said.c_str() + said.find("sample"), "sample 0 %lf %lf", &time, &bytes), 2);
  EXPECT_NEAR(bytes / time, 1000e6, 1000e6 * 1e-4);
}

TEST(LikwidReader, TellsTheRestWhereNoGroupCountsMemory) {
  const std::string said = said_by_reader("--group FLOPS_DP 0:0,1", 10, "no group");
  EXPECT_THAT(said,
              testing::StartsWith("group FLOPS_DP\nno-memory no group of events for memory bandwidth on Pretended "
                                  "processor\nmeter 0 1 Clock [MHz]\n"));
  EXPECT_THAT(said, testing::Not(HasSubstr("sample")));
}

TEST(LikwidReader, KeepsTheLibrarysOwnOutputAway) {
  const Library library("garbage");
  const auto lines = lines_of_reader("0:0", 2);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0], "group MEM");
}

TEST(LikwidReader, LeavesOneBadReadingOut) {
  const Library library("one bad reading");
  const auto lines = lines_of_reader("0:0", 4);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines, testing::Not(testing::Contains(HasSubstr("error"))));
}

TEST(LikwidReader, SaysHowItIsCalled) {
  for (const char* arguments : {"", "x", "0", "0:", "0:1x", "-1:0", "0:0 1", "--group", "--group MEM",
                                "0:0 --group MEM", "0:0,", "0:0,x", "0:0,-1"}) {
    EXPECT_THAT(lines_of_reader(arguments, 1), testing::ElementsAre(HasSubstr("usage:"))) << arguments;
  }
}

struct Diagnosis {
  const char* behaviour;
  std::vector<const char*> words;
};
class LikwidDiagnosis : public testing::TestWithParam<Diagnosis> {};

TEST_P(LikwidDiagnosis, NamesTheReason) {
  const std::string failure = failure_with(GetParam().behaviour);
  for (const char* word : GetParam().words) EXPECT_THAT(failure, HasSubstr(word));
}

const Diagnosis kDiagnoses[] = {
    {"init -13", {"perfmon_init -13", "Permission denied", "administrator", "likwid-accessD", "perf_event_paranoid"}},
    {"init -1", {"perfmon_init -1", "administrator", "likwid-accessD"}},
    {"init -19", {"perfmon_init -19", "No such device"}},
    {"daemon", {"perfmon_init -13", "administrator"}},
    {"topology -22", {"processor not supported", "topology_init -22"}},
    {"numa -1", {"memory domains", "numa_init -1"}},
    {"no group", {"no group of events for memory bandwidth", "Pretended processor"}},
    {"groups fail", {"no group of events for memory bandwidth"}},
    {"no metric", {"no group of events for memory bandwidth"}},
    {"add -22", {"perfmon_addEventSet -22", "administrator"}},
    {"setup -2", {"perfmon_setupCounters -2"}},
    {"start -5", {"perfmon_startCounters -5"}},
    {"read -3", {"perfmon_readCounters -3"}},
    {"nan", {"group MEM", "no number"}},
    {"infinite", {"no number"}},
    {"negative", {"run backwards"}},
    {"absurd", {"more than any memory"}},
    {"zero", {"stand still", "not accessible"}},
    {"no time", {"time does not advance"}},
    {"wrong time", {"time does not advance"}},
    {"one socket", {"socket 0 as a whole", "domains 0 and 1"}},
    {"exit", {"ended its process in perfmon_init", "likwid-accessD"}},
    {"crash", {"signal 6"}},
    {"crash later", {"signal 11"}},
    {"fail later", {"perfmon_readCounters -4"}},
    {"hang", {"no answer for 5 s"}},
    {"hang stubbornly", {"no answer for 5 s"}},
    {"hang later", {"no answer for 5 s"}},
};
INSTANTIATE_TEST_SUITE_P(, LikwidDiagnosis, testing::ValuesIn(kDiagnoses), [](const auto& chosen) {
  std::string name = chosen.param.behaviour;
  for (char& c : name) c = isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(Likwid, TellsTheMeasuredRateWheneverTheReaderHasAFigure) {
  const Library library("");
  Started likwid(2);
  while (!likwid.of(1).ready) continue;
  const Nanoseconds began = now();
  likwid.begin(1, began);
  std::optional<std::uint64_t> bytes;
  Nanoseconds told{};
  while (!bytes) {
    likwid.of(1);
    told = now();
    bytes = likwid.sample(1, told);
  }
  const double rate = double(*bytes) / std::chrono::duration<double>(told - began).count();
  EXPECT_NEAR(rate, 2000e6, 2000e6 * 1e-3);
}

TEST(Likwid, HasItsReaderCountByTheGroupThatWasChosen) {
  const Library library("");
  Started likwid(1, LIKWID_READER, "MEMORY");
  EXPECT_THAT(likwid.failure(), HasSubstr("LIKWID: there is no group MEMORY"));
}

TEST(Likwid, HasAMeterForEachMetricOfTheChosenGroup) {
  const Library library("");
  Started likwid(2, LIKWID_READER, "MEM_DP");
  std::map<std::string, std::vector<MeterReading>> read;  // by name, of domain 1
  std::map<std::string, std::vector<Nanoseconds>> read_at;
  while (read["CPI"].size() < 3) {
    std::vector<MeterReading> now_read;
    likwid.of(1);
    const Nanoseconds at = now();
    likwid.read_meters(at, now_read);
    for (MeterReading& reading : now_read) {
      if (reading.meter.domain != 1) continue;
      read_at[reading.meter.name].push_back(at);
      read[reading.meter.name].push_back(std::move(reading));
    }
  }
  const std::map<std::string, std::pair<double, std::string>> values{
      {"Power", {100, "W"}}, {"CPI", {3, ""}}, {"DP", {700, "MFLOP/s"}}};
  ASSERT_EQ(read.size(), values.size());
  for (const auto& [name, expected] : values) {
    EXPECT_EQ(read[name][0].meter, (wire::MeterInfo{1, name, expected.second, "LIKWID MEM_DP"}));
    EXPECT_EQ(read[name][0].amount, std::nullopt) << "it begins to count";
    const double between = std::chrono::duration<double>(read_at[name][1] - read_at[name][0]).count();
    EXPECT_NEAR(double(read[name][1].amount.value()) * wire::kMeterStep / between, expected.first, 1e-3) << name;
  }
}

TEST(Likwid, SaysWhyMemoryIsNotCountedWhereTheChosenGroupIs) {
  const Library library("no group");
  Started likwid(1, LIKWID_READER, "FLOPS_DP");
  EXPECT_THAT(likwid.failure(), HasSubstr("LIKWID: no group of events for memory bandwidth"));
  std::vector<MeterReading> read;
  while (read.empty()) {
    likwid.of(0);
    likwid.read_meters(now(), read);
  }
  EXPECT_EQ(read[0].meter.name, "Clock");
}

TEST(Likwid, IsReadyOnlyForDomainsThatWereRead) {
  const Library library("");
  Started likwid(1);
  EXPECT_FALSE(likwid.of(0).ready);
  while (!likwid.of(0).ready) continue;
  EXPECT_FALSE(likwid.of(1).ready);
}

TEST(Likwid, IsNoLongerReadyWhenTheReaderFails) {
  const Library library("fail later");
  Started likwid(1);
  likwid.failure();
  EXPECT_FALSE(likwid.of(0).ready);
}

TEST(Likwid, SaysSoWhenItWasBuiltWithout) {
  Started likwid(1, "/nonexistent/idlewave-likwid-reader");
  EXPECT_THAT(likwid.failure(), HasSubstr("built without LIKWID"));
}

TEST(Likwid, LeavesNoProcessBehind) {
  const Library library("");
  {
    Started likwid(1);
    while (!likwid.of(0).ready) continue;
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(Likwid, LeavesNoDaemonToWhoTakesInOrphans) {
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  EXPECT_THAT(failure_with("slow daemon"), HasSubstr("perfmon_init -13"));
  EXPECT_EQ(waitpid(-1, nullptr, 0), -1);  // One that goes on is waited for.
  EXPECT_EQ(errno, ECHILD);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Likwid, ReaderDiesWithTheProcessThatStartedIt) {
  const Library library("");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t agent = fork();
  if (agent == 0) {
    Started likwid(1);
    while (!likwid.of(0).ready) continue;
    std::ifstream children("/proc/self/task/" + std::to_string(getpid()) + "/children");
    pid_t reader = 0;
    children >> reader;
    if (write(ends[1], &reader, sizeof reader) != sizeof reader) _exit(1);
    for (;;) pause();
  }
  pid_t reader = 0;
  ASSERT_EQ(read(ends[0], &reader, sizeof reader), ssize_t(sizeof reader));
  close(ends[0]);
  close(ends[1]);
  ASSERT_GT(reader, 0);
  ASSERT_EQ(kill(reader, 0), 0);
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  const auto is_gone = [&] {
    std::ifstream stat("/proc/" + std::to_string(reader) + "/stat");
    std::string text;
    return !std::getline(stat, text) || text.find(") Z ") != std::string::npos;
  };
  while (!is_gone()) std::this_thread::sleep_for(milliseconds(5));
}

TEST(Likwid, WorksOrSaysWhyWithTheRealLibrary) {
  const Library library;
  Started likwid(1);
  while (likwid.of(0).why_not.empty() && !likwid.of(0).ready) continue;
  if (likwid.of(0).ready) GTEST_SKIP() << "this machine lets its memory counters be read";
  EXPECT_THAT(likwid.failure(),
              testing::AnyOf(HasSubstr("administrator"), HasSubstr("no group of events"), HasSubstr("not accessible")));
  std::cout << likwid.failure() << '\n';
}

}  // namespace
}  // namespace idlewave::sampler
