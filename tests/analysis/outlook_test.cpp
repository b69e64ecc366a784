// What the form of a delay knows of a program, against what the simulated program is.
#include "monitor/analysis/program/outlook.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "monitor/analysis/causes/cause_ground.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using namespace std::chrono_literals;
using test::SimulatedSession;

/// 40 ranks in a ring of neighbours, steps of 20 ms, ten ranks on a domain that saturates at five.
support::Scenario ring() {
  support::Scenario scenario;
  scenario.machine = {.ranks = 40, .ranks_per_domain = 10, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
  scenario.program = {.steps = 200, .kernel = support::Kernel::kCore};
  scenario.program.time = 20ms;
  scenario.communication.protocol = support::Protocol::kEager;
  return scenario;
}

/// Late in the run.
program::Outlook outlook_of(const support::Scenario& scenario) {
  const SimulatedSession session(scenario);
  const timeline::Timeline& timeline = session.timeline();
  return program::outlook(timeline, domains::domain_activity(timeline, {timeline.now() / 2, timeline.now()}),
                          causes::cause_ground(timeline));
}

TEST(Outlook, AssumesNeighboursWhereNobodyWasLate) {
  const program::Outlook outlook = outlook_of(ring());
  EXPECT_FALSE(outlook.known);
  EXPECT_EQ(outlook.up, 1);
  EXPECT_EQ(outlook.down, 1);
  EXPECT_NEAR(outlook.step, 0.02, 1e-6);
  EXPECT_NEAR(outlook.step_behind, 0.02, 1e-6);
}

TEST(Outlook, KnowsFromAnEarlierWaveHowFastFrontsRun) {
  support::Scenario scenario = ring();
  scenario.communication.distances = {1, -1, -2};
  scenario.communication.wait = support::WaitFlavour::kSplit;
  scenario.delays = {{5, 20, 400ms}};
  const program::Outlook outlook = outlook_of(scenario);
  EXPECT_TRUE(outlook.known);
  EXPECT_TRUE(outlook.ring);
  EXPECT_EQ(outlook.up, 1);
  EXPECT_EQ(outlook.down, 3);
}

TEST(Outlook, TakesNoiseAndMessagesForWhatTheyAre) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(fmt::format("IDLEWAVE_TEST_SEED={}", seed));
  support::Scenario scenario = ring();
  scenario.communication.time = 2ms;
  scenario.noise.distribution = support::ExponentialNoise{1ms};
  scenario.noise.seed = seed;
  scenario.delays = {{5, 20, 400ms}};
  const program::Outlook outlook = outlook_of(scenario);
  EXPECT_TRUE(outlook.known);
  EXPECT_NEAR(outlook.step_behind, 0.02 + 0.001 + 0.002, 0.0003);
  EXPECT_GT(outlook.step, outlook.step_behind + 0.0004);
  EXPECT_LT(outlook.step, outlook.step_behind + 0.002);
}

// A memory-bound wave leaves the domain that was hit in step and the others out of it: 300 ms more on rank 5 make all
// ranks late, on rank 25 not even those of the next domain.
TEST(Outlook, DoesNotForetellTheTrailingEdgeWhereRanksThatShareMemoryAreOutOfStep) {
  support::Scenario scenario = ring();
  scenario.program.kernel = support::Kernel::kMemory;
  scenario.program.volume = 100'000'000;
  scenario.delays = {{5, 20, 600ms}};
  const program::Outlook outlook = outlook_of(scenario);
  EXPECT_TRUE(outlook.known);
  EXPECT_NEAR(outlook.step, 0.02, 0.002);
  EXPECT_EQ(outlook.step_behind, 0);
}

/// The session's domains, as if their bandwidth were counted: all of it is used.
std::vector<domains::DomainActivity> saturated(const timeline::Timeline& timeline) {
  auto domains = domains::domain_activity(timeline, {timeline.now() / 2, timeline.now()});
  for (domains::DomainActivity& each : domains) each.bandwidth_mean = each.saturated_bandwidth;
  return domains;
}

// 100 MB a step: 10 ms alone, 20 ms for ten who share 50 GB/s.
TEST(Outlook, KnowsThatTheTrailingEdgeRunsAsFastAsRanksAloneWhereALockstepUsesAllBandwidth) {
  support::Scenario scenario = ring();
  scenario.program.kernel = support::Kernel::kMemory;
  scenario.program.volume = 100'000'000;
  const SimulatedSession session(scenario);
  const program::Outlook outlook = analysis::program::outlook(session.timeline(), saturated(session.timeline()),
                                                              causes::cause_ground(session.timeline()));
  EXPECT_NEAR(outlook.step, 0.02, 1e-5);
  EXPECT_NEAR(outlook.step_behind, 0.01, 1e-5);
}

}  // namespace
}  // namespace idlewave::analysis
