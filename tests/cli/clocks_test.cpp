// What is said of several nodes: in the order that a reader expects, and with the digits that are known.

#include "monitor/cli/reporting/clocks.h"

#include <gmock/gmock.h>

#include "monitor/timeline/timeline.h"

namespace idlewave::cli::reporting {
namespace {

using namespace std::chrono_literals;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;

constexpr Rank kNodes = 12;

std::string name_of(Rank node) { return "n" + std::to_string(node + 1); }

/// A rank and a domain on each of n1 to n12, which announce themselves the last first.
Timeline many_nodes() {
  Timeline timeline;
  for (Rank rank = kNodes; rank-- > 0;) {
    wire::Roster roster{.world_size = kNodes, .agent_pid = 1};
    roster.domains.push_back({.id = 0, .label = "socket 0"});
    roster.ranks.push_back({.rank = rank, .domain = 0});
    EXPECT_TRUE(timeline.apply_roster(name_of(rank), roster));
  }
  return timeline;
}

void set_clock(Timeline& timeline, Rank node, Nanoseconds offset, Nanoseconds error) {
  timeline.set_clock(name_of(node), {.knots = {{.at = 0ns, .offset = offset}}, .error = error});
}

TEST(SeveralNodes, StandByTheNumbersInTheirNames) {
  std::vector<std::string> told, expected;
  for (const auto& node : many_nodes().nodes()) told.push_back(node.name);
  for (Rank node = 0; node < kNodes; ++node) expected.push_back(name_of(node));
  EXPECT_EQ(told, expected);
}

TEST(SeveralNodes, HaveDomainsInTheOrderOfTheirRanks) {
  const Timeline timeline = many_nodes();
  std::vector<std::string> told, expected;
  for (const int domain : timeline.domains_by_rank()) told.push_back(timeline.name_of_domain(domain));
  for (Rank node = 0; node < kNodes; ++node) expected.push_back(name_of(node) + " socket 0");
  EXPECT_EQ(told, expected);
}

TEST(SeveralNodes, HaveClocksWithTheDigitsThatAreKnown) {
  Timeline timeline = many_nodes();
  set_clock(timeline, 0, -80'954'951us, 105us);
  set_clock(timeline, 1, 12'345'678ns, 64us);
  set_clock(timeline, 2, 3'210ns, 64us);
  set_clock(timeline, 3, -1'234ns, 20ns);
  set_clock(timeline, 4, 5s, 3s);
  set_clock(timeline, 5, 0ns, 0ns);
  const std::string text = clocks_in_words(timeline);
  EXPECT_THAT(text, testing::StartsWith("n1 -80.9550 s ± 105 us, n2 +12.35 ms ± 64 us, n3 +3 us ± 64 us, "
                                        "n4 -1.23 us ± 20 ns, n5 +5 s ± 3 s, n6 +0.000 us ± 0 s, n7 +"));
}

}  // namespace
}  // namespace idlewave::cli::reporting
