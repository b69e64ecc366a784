// What follows from an exchange that was measured; the command lines of iw-orthogonal and iw-topology.

#include "workloads/internode/orthogonal.h"

#include <gmock/gmock.h>

#include "workloads/internode/topology_options.h"

namespace idlewave::internode {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Crossing, LiesBetweenTheSizesWhereTheRatioPassesOne) {
  EXPECT_NEAR(*crossing_of({{1000, 0.5}, {4000, 2.0}, {16000, 3}}), 2000, 1e-6);
  EXPECT_NEAR(*crossing_of({{1000, 0.5}, {4000, 1.5}, {16000, 0.5}, {64000, 2}}), 32000, 1e-6) << "the last one";
  EXPECT_FALSE(crossing_of({{1000, 2}, {4000, 3}}));
  EXPECT_FALSE(crossing_of({{1000, 0.5}, {4000, 0.7}}));
  EXPECT_FALSE(crossing_of({}));
}

Figures figures_of(double pure, double masteronly) {
  return {2, 8, {{1000, {8, true}, pure, pure / 2}, {1000, {1, false}, masteronly, masteronly}}, 0};
}

TEST(Exchange, IsComparedByTheTimesOfItsSlowestProcess) {
  const Figures figures = figures_of(2e-3, 4e-3);
  ASSERT_EQ(ratios_of(figures).size(), 1u);
  EXPECT_DOUBLE_EQ(ratios_of(figures)[0].ratio, 2);
  EXPECT_DOUBLE_EQ(bandwidth_between_nodes(figures.points[1], 8), 8 * 1000 / 4e-3);
}

TEST(Exchange, GoesInPureMpiFirstAndThenWithEachNumberOfCommunicatingProcesses) {
  std::vector<int> communicating;
  for (const Way& way : ways_of({}, 6)) communicating.push_back(way.communicating);
  EXPECT_THAT(communicating, ElementsAre(6, 1, 2, 4, 6));
  EXPECT_EQ(ways_of({}, 1).size(), 2u);
}

template <class Parse>
std::string refusal(Parse parse, std::vector<const char*> words, int ranks) {
  words.insert(words.begin(), "program");
  const auto parsed = parse(int(words.size()), words.data(), ranks);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(OrthogonalOptions, RefuseWhatCannotBe) {
  const auto of = [](std::vector<const char*> words) { return refusal(parse_orthogonal, std::move(words), 16); };
  EXPECT_EQ(of({"--ranks-per-node", "8", "--sizes", "8B, 1kB", "--network", "virtual", "--latency", "1ms"}),
            "accepted");
  EXPECT_THAT(of({"--ranks-per-node", "5"}), HasSubstr("does not divide the 16 ranks"));
  EXPECT_THAT(of({"--sizes", "7B"}), HasSubstr("not a size from 8 B"));
  EXPECT_THAT(of({"--sizes", "1000"}), HasSubstr("--sizes"));
  EXPECT_THAT(of({"--communicating", "0"}), HasSubstr("--communicating"));
  EXPECT_THAT(of({"--latency", "1ms"}), HasSubstr("belongs to --network virtual"));
  EXPECT_THAT(of({"--network", "virtual", "--node-bandwidth", "1MB/s"}), HasSubstr("--process-bandwidth"));
}

TEST(TopologyOptions, RefuseWhatCannotBe) {
  const auto of = [](std::vector<const char*> words) { return refusal(parse_topology, std::move(words), 16); };
  EXPECT_EQ(of({"--grid", "2x2x4", "--mappings", "best, sequential"}), "accepted");
  EXPECT_THAT(of({"--grid", "4x5"}), HasSubstr("has 20 cells, and the job has 16 ranks; start it with mpirun -n 20"));
  EXPECT_THAT(of({"--grid", "1000000x1000000x1000000"}), HasSubstr("and the job has 16 ranks"));
  EXPECT_THAT(of({"--grid", "2x2x2x2"}), HasSubstr("up to 3 whole numbers"));
  EXPECT_THAT(of({"--grid", "4x"}), HasSubstr("--grid"));
  EXPECT_THAT(of({"--mappings", "worst"}), HasSubstr("not one of round-robin, sequential, best"));
  EXPECT_THAT(of({"--message-size", "1B"}), HasSubstr("not a size from 8 B"));
}

}  // namespace
}  // namespace idlewave::internode
