// Where the real agent takes a domain's bandwidth from.

#include <gmock/gmock.h>

#include "tests/agent/stage.h"

namespace idlewave::test {
namespace {

using testing::HasSubstr;

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
  EXPECT_EQ(domain.note, "");
  EXPECT_EQ(monitor.roster().ranks.at(0).domain, 5);
}

TEST(Agent, TellsDeclaredTrafficAndWhyThereIsNothingBetter) {
  const SessionRoot root;
  setenv("FAKE_LIKWID", "init -13", 1);
  setenv("LD_LIBRARY_PATH", FAKE_LIKWID_FOLDER, 1);
  AgentProcess agent;
  unsetenv("FAKE_LIKWID");
  unsetenv("LD_LIBRARY_PATH");
  Monitor monitor;
  PlayedRank rank("count", 0, 1, {"1000", "1"});
  ASSERT_TRUE(monitor.until([&] {
    return !monitor.rosters().empty() && !monitor.roster().domains.empty() &&
           !monitor.roster().domains[0].note.empty() &&
           monitor.roster().domains[0].source != wire::BandwidthSource::kNone;
  }));
  const wire::DomainInfo& domain = monitor.roster().domains[0];
  EXPECT_EQ(domain.source, wire::BandwidthSource::kDeclared);
  EXPECT_THAT(domain.label, testing::AnyOf(HasSubstr("socket"), HasSubstr("NUMA")));
  EXPECT_THAT(domain.note, HasSubstr("LIKWID"));
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

}  // namespace
}  // namespace idlewave::test
