// The simulation that judges the others, judged itself by the derived reference case and the table of idle wave speeds.

#include "tests/workloads/exact_run.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "workloads/support/neighbour.h"

namespace idlewave::tests {
namespace {

using namespace std::chrono_literals;
using support::neighbour;
using support::Protocol;
using support::Topology;
using support::WaitFlavour;

double reference_bandwidth(int active) { return std::min(active * 10e9, 50e9); }

ExactProgram reference_program() {
  ExactProgram program;
  program.bandwidth = reference_bandwidth;
  program.volume = 50e6;
  program.delays = {{5, 5, 1200ms}};
  return program;
}

double spread(const ExactRun& run, std::size_t step) {
  std::vector<double> starts;
  for (const auto& rank : run.step_start) starts.push_back(rank[step]);
  return std::ranges::max(starts) - std::ranges::min(starts);
}

TEST(ReferenceCase, EndsWhenItShould) { EXPECT_NEAR(simulate(reference_program()).makespan, 3.181, 0.0005); }

TEST(ReferenceCase, LeavesTheHitDomainInLockstepAndTheOthersNearSaturation) {
  const ExactRun run = simulate(reference_program());
  const double expected[] = {10.0, 5.0, 6.0, 5.0};
  for (int domain = 0; domain < 4; ++domain)
    EXPECT_NEAR(run.active_mean(domain, 10, 0.60, 0.85), expected[domain], 0.05) << domain;
}

TEST(ReferenceCase, KeepsAComputationalWavefront) {
  EXPECT_NEAR(spread(simulate(reference_program()), 140), 0.066, 0.0005);
}

TEST(ReferenceCase, HasNoWavefrontBelowSaturation) {
  for (const int per_domain : {3, 5}) {
    ExactProgram program = reference_program();
    program.ranks_per_domain = per_domain;
    EXPECT_NEAR(spread(simulate(program), 140), 0, 1e-9) << per_domain;
  }
}

TEST(ReferenceCase, MovesWhatTheRanksMove) {
  const std::vector<double> moved = simulate(reference_program()).domain_bytes;
  ASSERT_EQ(moved.size(), 4u);
  for (const double bytes : moved) EXPECT_NEAR(bytes, 10 * 200 * 50e6, 1e3);
}

struct WaveSpeed {
  const char* pattern;
  std::vector<support::Rank> distances;
  WaitFlavour wait;
  Protocol protocol;
  int down;
  int up;
};

/// How many ranks away the delay is felt after 6 steps, per step; core-bound, so that a rank feels it if it is late at
/// all.
int ranks_per_step(const ExactRun& run, const ExactRun& undisturbed, int origin, int delayed_step, int direction) {
  constexpr int kSteps = 6;
  const auto step = static_cast<std::size_t>(delayed_step + kSteps);
  int reach = 0;
  for (int distance = 1; distance < 30; ++distance) {
    const auto rank = static_cast<std::size_t>(origin + direction * distance);
    if (run.step_start[rank][step] > undisturbed.step_start[rank][step] + 1e-6) reach = distance;
  }
  return (reach + kSteps / 2) / kSteps;
}

class WaveSpeedTable : public testing::TestWithParam<WaveSpeed> {};

TEST_P(WaveSpeedTable, IsReproduced) {
  const WaveSpeed& row = GetParam();
  ExactProgram program;
  program.ranks = 61;
  program.steps = 30;
  program.time = 0.01;
  program.communication.topology = Topology::kChain;
  program.communication.distances = row.distances;
  program.communication.wait = row.wait;
  program.communication.protocol = row.protocol;
  const ExactRun undisturbed = simulate(program);
  program.delays = {{30, 10, 1s}};
  const ExactRun run = simulate(program);
  EXPECT_EQ(ranks_per_step(run, undisturbed, 30, 10, -1), row.down);
  EXPECT_EQ(ranks_per_step(run, undisturbed, 30, 10, +1), row.up);
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, WaveSpeedTable,
    testing::Values(WaveSpeed{"one_direction", {1}, WaitFlavour::kAll, Protocol::kEager, 0, 1},
                    WaveSpeed{"one_direction", {1}, WaitFlavour::kAll, Protocol::kRendezvous, 1, 1},
                    WaveSpeed{"both", {-1, 1}, WaitFlavour::kAll, Protocol::kEager, 1, 1},
                    WaveSpeed{"both", {-1, 1}, WaitFlavour::kAll, Protocol::kRendezvous, 1, 1},
                    WaveSpeed{"both_split", {-1, 1}, WaitFlavour::kSplit, Protocol::kEager, 1, 1},
                    WaveSpeed{"both_split", {-1, 1}, WaitFlavour::kSplit, Protocol::kRendezvous, 2, 2},
                    WaveSpeed{"two_each", {-2, -1, 1, 2}, WaitFlavour::kAll, Protocol::kEager, 2, 2},
                    WaveSpeed{"two_each", {-2, -1, 1, 2}, WaitFlavour::kAll, Protocol::kRendezvous, 2, 2},
                    WaveSpeed{"fig_5c", {1, -1, -2}, WaitFlavour::kSplit, Protocol::kEager, 3, 1},
                    WaveSpeed{"fig_5c", {1, -1, -2}, WaitFlavour::kSplit, Protocol::kRendezvous, 4, 4}),
    [](const auto& row) {
      return std::string{row.param.pattern} + (row.param.protocol == Protocol::kEager ? "_eager" : "_rendezvous");
    });

TEST(Neighbour, WrapsRoundARing) {
  EXPECT_EQ(neighbour(Topology::kRing, 10, 0, -1), 9);
  EXPECT_EQ(neighbour(Topology::kRing, 10, 9, 12), 1);
}

TEST(Neighbour, EndsWithAChain) {
  EXPECT_EQ(neighbour(Topology::kChain, 10, 0, -1), std::nullopt);
  EXPECT_EQ(neighbour(Topology::kChain, 10, 9, 1), std::nullopt);
  EXPECT_EQ(neighbour(Topology::kChain, 10, 4, -2), 2);
}

TEST(Neighbour, IsNeverTheRankItself) {
  EXPECT_EQ(neighbour(Topology::kRing, 10, 3, 20), std::nullopt);
  EXPECT_EQ(neighbour(Topology::kRing, 1, 0, 1), std::nullopt);
  EXPECT_EQ(neighbour(Topology::kChain, 10, 3, 0), std::nullopt);
}

}  // namespace
}  // namespace idlewave::tests
