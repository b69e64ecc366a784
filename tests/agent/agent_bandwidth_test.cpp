// Where the real agent takes a domain's bandwidth from.

#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/agent/stage.h"

namespace idlewave::test {
namespace {

using testing::HasSubstr;

/// Bytes of a domain, microjoules of a meter of power.
std::uint64_t counted_on(const std::vector<Event>& lane) {
  std::uint64_t sum = 0;
  for (const Event& event : lane) sum += event.kind == EventKind::kBandwidth ? event.value : 0;
  return sum;
}

TEST(Agent, TellsTheBandwidthOfAVirtualSocketAsItsModelSaysIt) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank rank("virtual", 0, 1, {"5"});
  ASSERT_TRUE(monitor.until([&] { return monitor.domain_lane(5).size() >= 4; }));
  const auto& lane = monitor.domain_lane(5);
  EXPECT_EQ(lane[0].kind, EventKind::kStart);
  EXPECT_EQ(lane[2].kind, EventKind::kBandwidth);
  EXPECT_GT(lane[2].value, 0u);
  const wire::DomainInfo& domain = monitor.roster().domains.at(0);
  EXPECT_EQ(domain.label, "virtual socket 5");
  EXPECT_EQ(domain.source, wire::BandwidthSource::kVirtual);
  EXPECT_EQ(domain.core_bandwidth, 10e9);
  EXPECT_EQ(domain.saturated_bandwidth, 50e9);
  EXPECT_EQ(domain.curve, (std::vector<double>{10e9, 18e9, 50e9}));
  EXPECT_EQ(domain.note, "");
  EXPECT_EQ(monitor.roster().ranks.at(0).domain, 5);
}

TEST(Agent, KeepsAVirtualSocketThoughARankThatIsNotOnOneIsTakenToBeOnTheSame) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  PlayedRank on_it("virtual", 0, 2, {"0"});
  ASSERT_TRUE(monitor.until([&] { return monitor.domain_lane(0).size() >= 2; }));
  PlayedRank late("count", 1, 2, {"1000", "1"});
  ASSERT_TRUE(
      monitor.until([&] { return monitor.roster().ranks.size() == 2 && monitor.roster().ranks.back().domain >= 0; }));
  const std::size_t told = monitor.domain_lane(0).size();
  ASSERT_TRUE(monitor.until([&] { return monitor.domain_lane(0).size() >= told + 2; }));
  EXPECT_EQ(monitor.roster().domains.at(0).label, "virtual socket 0");
  EXPECT_EQ(monitor.roster().domains.at(0).source, wire::BandwidthSource::kVirtual);
}

TEST(Agent, TellsDeclaredTrafficAndWhyThereIsNothingBetter) {
  const SessionRoot root;
  setenv("FAKE_LIKWID", "init -13", 1);
  setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
  AgentProcess agent({"--resctrl", "/nonexistent"});
  unsetenv("FAKE_LIKWID");
  unsetenv("LD_LIBRARY_PATH");
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] {
    return !monitor.rosters().empty() && !monitor.roster().domains.empty() &&
           monitor.roster().domains[0].note.find("LIKWID: ") != std::string::npos &&
           monitor.roster().domains[0].source != wire::BandwidthSource::kNone;
  }));
  const wire::DomainInfo& domain = monitor.roster().domains[0];
  EXPECT_EQ(domain.source, wire::BandwidthSource::kDeclared);
  EXPECT_THAT(domain.label, testing::AnyOf(HasSubstr("socket"), HasSubstr("NUMA")));
  EXPECT_THAT(domain.note, HasSubstr("; resctrl: not offered here"));
}

TEST(Agent, CountsByTheGroupOfLikwidThatItIsToldOf) {
  if (access(LIKWID_READER, X_OK) != 0) GTEST_SKIP() << "built without LIKWID";
  const SessionRoot root;
  setenv("FAKE_LIKWID", "", 1);
  setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
  setenv("IDLEWAVE_LIKWID_GROUP", "MEMORY", 1);
  AgentProcess agent({"--resctrl", "/nonexistent"});
  for (const char* name : {"FAKE_LIKWID", "LD_LIBRARY_PATH", "IDLEWAVE_LIKWID_GROUP"}) unsetenv(name);
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] {
    return !monitor.rosters().empty() && !monitor.roster().domains.empty() &&
           monitor.roster().domains[0].note.find("LIKWID: ") != std::string::npos;
  }));
  EXPECT_THAT(monitor.roster().domains[0].note, HasSubstr("there is no group MEMORY"));
}

TEST(Agent, TakesWhatWasCalibratedForDomainsOfTheMachineAlone) {
  const SessionRoot root;
  setenv("IDLEWAVE_DOMAIN_CURVE", "18.5GB/s:34GB/s:36GB/s", 1);
  AgentProcess agent;
  unsetenv("IDLEWAVE_DOMAIN_CURVE");
  Monitor monitor;
  PlayedRank on_it("virtual", 0, 3, {"5"});
  PlayedRank silent("domain", 1, 3, {"6", "1", "0", "0"});
  PlayedRank on_the_machine("count", 2, 3, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && monitor.roster().domains.size() == 3; }));
  for (const wire::DomainInfo& domain : monitor.roster().domains) {
    const bool of_machine = domain.label.find("virtual") == std::string::npos;
    EXPECT_EQ(domain.calibrated, of_machine) << domain.label;
    if (of_machine) {
      EXPECT_EQ(domain.core_bandwidth, 18.5e9);
      EXPECT_EQ(domain.saturated_bandwidth, 36e9);
      EXPECT_EQ(domain.curve, (std::vector<double>{18.5e9, 34e9, 36e9}));
    } else if (domain.id == 5) {
      EXPECT_EQ(domain.curve, (std::vector<double>{10e9, 18e9, 50e9}));
    } else {
      EXPECT_TRUE(domain.curve.empty());
      EXPECT_EQ(domain.core_bandwidth, 0);
    }
  }
}

TEST(Agent, BelievesARankThatSaysWhatItsDomainCanDoBeforeWhatWasCalibrated) {
  const SessionRoot root;
  setenv("IDLEWAVE_DOMAIN_CURVE", "18.5GB/s..36GB/s", 1);
  AgentProcess agent;
  unsetenv("IDLEWAVE_DOMAIN_CURVE");
  Monitor monitor;
  PlayedRank rank("domain", 0, 1, {"-1", "0", "7", "21"});
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && !monitor.roster().domains.empty(); }));
  EXPECT_FALSE(monitor.roster().domains.at(0).calibrated);
  EXPECT_EQ(monitor.roster().domains.at(0).core_bandwidth, 7e9);
  EXPECT_EQ(monitor.roster().domains.at(0).saturated_bandwidth, 21e9);
}

/// Whether some process is the reader that an agent has started.
bool has_reader(pid_t agent) {
  std::ifstream children("/proc/" + std::to_string(agent) + "/task/" + std::to_string(agent) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream name("/proc/" + std::to_string(child) + "/comm");
    std::string comm;
    if (std::getline(name, comm) && comm == "idlewave-likwid") return true;  // the kernel keeps 15 letters
  }
  return false;
}

TEST(Agent, KnowsWhereARankRanThatHasEndedBeforeItLooks) {
  const SessionRoot root;
  AgentProcess agent;
  Monitor monitor;
  ASSERT_EQ(kill(agent.pid(), SIGSTOP), 0);
  PlayedRank rank("count", 0, 1, {"10", "1"});
  rank.leave();
  ASSERT_EQ(kill(agent.pid(), SIGCONT), 0);
  ASSERT_TRUE(monitor.until([&] { return monitor.count(0, EventKind::kStop) == 1; }));
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && !monitor.roster().domains.empty(); }));
  EXPECT_EQ(monitor.roster().ranks.at(0).domain, monitor.roster().domains.at(0).id);
}

TEST(Agent, CountsBeforeThereAreRanksAndNoLongerWhereAllAreOnVirtualSockets) {
  if (access(LIKWID_READER, X_OK) != 0) GTEST_SKIP() << "built without LIKWID";
  const SessionRoot root;
  setenv("FAKE_LIKWID", "", 1);
  setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
  AgentProcess agent;
  for (const char* name : {"FAKE_LIKWID", "LD_LIBRARY_PATH"}) unsetenv(name);
  Monitor monitor;
  EXPECT_TRUE(eventually([&] { return has_reader(agent.pid()); }));
  PlayedRank on_it("virtual", 0, 2, {"5"});
  EXPECT_TRUE(eventually([&] { return !has_reader(agent.pid()); }));
  PlayedRank on_the_machine("count", 1, 2, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] {
    return !monitor.rosters().empty() && std::ranges::any_of(monitor.roster().domains, [](const auto& domain) {
      return domain.source == wire::BandwidthSource::kLikwid;
    });
  }));
  EXPECT_TRUE(has_reader(agent.pid()));
}

TEST(Agent, PrefersCountersToDeclaredTraffic) {
  const SessionRoot root;
  setenv("FAKE_LIKWID", "", 1);  // counts 1000 MByte/s on the first domain, 2000 on the second
  setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
  AgentProcess agent({"--cpu", "0"});
  unsetenv("FAKE_LIKWID");
  unsetenv("LD_LIBRARY_PATH");
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  if (access(LIKWID_READER, X_OK) != 0) GTEST_SKIP() << "built without LIKWID";
  ASSERT_TRUE(monitor.until([&] {
    return !monitor.rosters().empty() && !monitor.roster().domains.empty() &&
           monitor.roster().domains[0].source == wire::BandwidthSource::kLikwid;
  }));
  const wire::DomainId domain = monitor.roster().domains[0].id;
  const auto& lane = monitor.domain_lane(domain);
  const std::size_t told = lane.size();
  ASSERT_TRUE(monitor.until([&] { return lane.size() >= told + 3; }));
  const double seconds = std::chrono::duration<double>(lane.back().time - lane[lane.size() - 2].time).count();
  EXPECT_NEAR(double(lane.back().value) / seconds, 1000e6 * (domain + 1), 20e6);
}

/// A resctrl file system as the kernel lays it out, with a counter for each L3 cache that this machine names.
class Resctrl {
 public:
  explicit Resctrl(const std::filesystem::path& root) : root_(root) {
    std::filesystem::create_directories(root_ / "info/L3_MON");
    std::ofstream(root_ / "info/L3_MON/mon_features") << "llc_occupancy\nmbm_total_bytes\n";
    std::error_code none;
    for (const auto& cpu : std::filesystem::directory_iterator("/sys/devices/system/cpu", none)) {
      std::ifstream id(cpu.path() / "cache/index3/id");
      if (int number = 0; id >> number) counters_.insert(counter_of(number));
    }
  }
  bool has_counters() const { return !counters_.empty(); }
  void count(std::uint64_t bytes) const {
    for (const std::string& counter : counters_) std::ofstream(counter) << bytes << '\n';
  }

 private:
  std::string counter_of(int cache) const {
    char name[32];
    std::snprintf(name, sizeof name, "mon_data/mon_L3_%02d", cache);
    std::filesystem::create_directories(root_ / name);
    return root_ / name / "mbm_total_bytes";
  }

  std::filesystem::path root_;
  std::set<std::string> counters_;
};

TEST(Agent, TellsWhatResctrlCountsWhereLikwidCantBeRead) {
  const SessionRoot root;
  const Resctrl resctrl(root.folder("resctrl"));
  if (!resctrl.has_counters()) GTEST_SKIP() << "this machine names no L3 cache";
  resctrl.count(5'000'000);
  setenv("FAKE_LIKWID", "init -13", 1);
  setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
  AgentProcess agent({"--resctrl", root.folder("resctrl")});
  unsetenv("FAKE_LIKWID");
  unsetenv("LD_LIBRARY_PATH");
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] {
    return !monitor.rosters().empty() && !monitor.roster().domains.empty() &&
           monitor.roster().domains[0].source == wire::BandwidthSource::kResctrl;
  }));
  constexpr std::uint64_t kMoved = 1'000'003;  // in each of the domain's caches
  resctrl.count(5'000'000 + kMoved);
  const auto& lane = monitor.domain_lane(monitor.roster().domains[0].id);
  const auto told = [&] { return counted_on(lane); };
  ASSERT_TRUE(monitor.until([&] { return told() >= kMoved; }));
  EXPECT_EQ(told() % kMoved, 0u);
  EXPECT_THAT(monitor.roster().domains[0].note, HasSubstr("LIKWID"));
  EXPECT_THAT(monitor.roster().domains[0].note, testing::Not(HasSubstr("resctrl")));
}

/// Energy counters as the kernel shows them, one for each package that this machine names.
class Powercap {
 public:
  explicit Powercap(const std::filesystem::path& root) {
    std::error_code none;
    std::set<std::string> packages;
    for (const auto& cpu : std::filesystem::directory_iterator("/sys/devices/system/cpu", none)) {
      std::ifstream id(cpu.path() / "topology/physical_package_id");
      if (std::string package; id >> package) packages.insert(package);
    }
    for (const std::string& package : packages) {
      const std::filesystem::path zone = root / ("intel-rapl:" + package);
      std::filesystem::create_directories(zone);
      std::ofstream(zone / "name") << "package-" << package << '\n';
      std::ofstream(zone / "max_energy_range_uj") << "262143328850\n";
      counters_.insert(zone / "energy_uj");
    }
  }
  bool has_counters() const { return !counters_.empty(); }
  /// As the kernel does: whoever reads sees the one number or the other.
  void count(std::uint64_t microjoules) const {
    for (const std::string& counter : counters_) {
      std::ofstream(counter + ".new") << microjoules << '\n';
      std::filesystem::rename(counter + ".new", counter);
    }
  }

 private:
  std::set<std::string> counters_;
};

TEST(Agent, TellsTheEnergyOfThePackagesThatItsRanksRunOn) {
  const SessionRoot root;
  const Powercap powercap(root.folder("powercap"));
  if (!powercap.has_counters()) GTEST_SKIP() << "this machine names no package";
  powercap.count(5'000'000);
  AgentProcess agent({"--powercap", root.folder("powercap")});
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] { return !monitor.rosters().empty() && !monitor.roster().meters.empty(); }));
  constexpr std::uint64_t kSpent = 1'000'003;
  powercap.count(5'000'000 + kSpent);
  const auto told = [&] { return counted_on(monitor.meter(0)); };
  ASSERT_TRUE(monitor.until([&] { return told() >= kSpent; }));
  EXPECT_EQ(told(), kSpent);
  EXPECT_EQ(monitor.meter(0).front().kind, EventKind::kStart);
  const wire::MeterInfo& meter = monitor.roster().meters.at(0);
  EXPECT_EQ(meter.unit, "W");
  EXPECT_EQ(meter.source, "RAPL");
  EXPECT_EQ(meter.domain, monitor.roster().domains.at(0).id);
}

}  // namespace
}  // namespace idlewave::test
