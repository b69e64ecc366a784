// The live edge against all nodes, looked at one by one.

#include "monitor/timeline/live_edge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Slow, and as the header of the timeline puts it.
Nanoseconds edge_of(const std::vector<Timeline::NodeStatus>& nodes) {
  Nanoseconds farthest = Nanoseconds::min();
  for (const auto& node : nodes)
    if (node.told) farthest = std::max(farthest, node.told_until);
  if (farthest == Nanoseconds::min()) return {};
  Nanoseconds edge = farthest;
  for (const auto& node : nodes)
    if (node.told && !node.ended && farthest - node.told_until <= seconds(2)) edge = std::min(edge, node.told_until);
  return edge;
}

TEST(LiveEdge, IsThatOfTheSlowestThatKeepsUpWhateverNodesDo) {
  const unsigned seed = any_seed();
  std::mt19937_64 random(seed);
  for (int session = 0; session < 50; ++session) {
    Timeline timeline(std::uint64_t{64} << 20);
    const int nodes = 1 + int(random() % 40);
    std::vector<Nanoseconds> clocks(std::size_t(nodes), seconds(10));
    const auto name = [](int node) { return "n" + std::to_string(node); };
    wire::Roster roster;
    roster.world_size = nodes;
    const auto announce = [&](int node) {
      roster.ranks = {{node, 1000 + node, wire::kNoDomain}};
      ASSERT_TRUE(timeline.apply_roster(name(node), roster));
    };
    for (int node = 0; node < nodes; ++node) announce(node);
    timeline.begin_at(name(0), seconds(10));
    EXPECT_EQ(timeline.now(), Nanoseconds{0});
    for (int act = 0; act < 1000; ++act) {
      const int node = int(random() % std::uint64_t(nodes));
      Nanoseconds& clock = clocks[std::size_t(node)];
      switch (random() % 20) {
        case 0: timeline.mark_ended(name(node)); break;
        case 1: announce(node); break;  // It goes on.
        case 2: timeline.set_clock_offset(name(node), milliseconds(std::int64_t(random() % 4000) - 2000)); break;
        case 3: clock += seconds(1); [[fallthrough]];
        default: timeline.advance(name(node), clock += milliseconds(random() % 100)); break;
      }
      ASSERT_EQ(timeline.now(), edge_of(timeline.nodes()))
          << "seed " << seed << ", session " << session << ", act " << act;
    }
  }
}

}  // namespace
}  // namespace idlewave::timeline
