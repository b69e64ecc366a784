// The messages of a program, as its ranks say them.

#include "monitor/analysis/partners/declared_messages.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "tests/analysis/said_partners.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"

namespace idlewave::analysis {
namespace {

using test::all_follow, test::kAllMeet, test::say, test::that_said;
using testing::ElementsAre;
using timeline::Timeline;
using wire::Rank;

TEST(DeclaredMessages, AreThoseOfTheScenario) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  test::RandomQuietScenarios random(seed);
  for (int i = 0; i < 100; ++i) {
    support::Scenario scenario = random.next(0, 0.1);
    scenario.machine.ranks = scenario.machine.ranks_per_domain = Rank(random.whole(20, 40));
    support::Communication& communication = scenario.communication;
    const bool split = random.whole(0, 1);
    communication.wait = split ? support::WaitFlavour::kSplit : support::WaitFlavour::kAll;
    communication.distances = {Rank(random.whole(1, 4)), Rank(random.whole(-4, -1))};
    if (random.whole(0, 1)) std::ranges::reverse(communication.distances);
    scenario.program.steps = 2;
    const test::SimulatedSession session(scenario, test::Says::kPartners);
    const auto said = partners::declared_messages(session.timeline());
    ASSERT_TRUE(said);
    if (!split) std::ranges::sort(communication.distances);
    EXPECT_EQ(said->distances, communication.distances);
    EXPECT_EQ(said->split, split);
    EXPECT_EQ(said->ring, communication.topology == support::Topology::kRing);
    EXPECT_EQ(said->rendezvous, communication.protocol == support::Protocol::kRendezvous);
  }
}

TEST(DeclaredMessages, AreNotKnownWhereNobodyKnowsWhetherSendsWait) {
  for (const bool uncertain : {false, true}) {
    const Timeline timeline = that_said(9, {{true, false, {-1, 1}, {-1, 1}, uncertain}}, {{{{0}}}}, all_follow(9));
    EXPECT_EQ(partners::declared_messages(timeline).has_value(), !uncertain);
  }
  // As of one rank alone.
  std::vector<std::uint32_t> follows = all_follow(9);
  follows[8] = 2;
  const wire::WaitPattern shift{false, false, {-1}, {1}}, open{false, false, {-1}, {1}, true};
  EXPECT_FALSE(partners::declared_messages(that_said(9, {shift, open}, {{{{0}}}, {{{1}}}}, follows)));
}

/// As of a program that gathers behind its loop, or comes to another one.
TEST(DeclaredMessages, AreThoseOfTheLongestPartOfTheRun) {
  const std::vector<wire::WaitPattern> patterns{{false, false, {-1}, {1}}, kAllMeet, {false, false, {-2}, {2}}};
  const std::vector<wire::WaitCycle> cycles{{{{0}}}, {{{1}}}, {{{2}}}};
  for (const bool at_end : {true, false}) {
    Timeline timeline = that_said(9, patterns, cycles, all_follow(9));
    for (Rank rank = 0; rank < 9; ++rank) {
      say(timeline, rank, at_end ? 60 + rank % 3 : 20 + rank % 3, at_end ? 2 : 3);
      say(timeline, rank, 100, at_end ? 2 : 3);
    }
    const auto said = partners::declared_messages(timeline);
    ASSERT_TRUE(said);
    EXPECT_THAT(said->distances, ElementsAre(at_end ? 1 : 2));
    EXPECT_TRUE(said->changes);
  }
  EXPECT_FALSE(partners::declared_messages(that_said(9, patterns, cycles, all_follow(9)))->changes);
}

TEST(DeclaredMessages, AreNotSaidWhereStepsDifferOrAllMeet) {
  const std::vector<wire::WaitPattern> patterns{{false, false, {-1}, {1}}, kAllMeet, {false, false, {-1}, {2}}};
  EXPECT_TRUE(partners::declared_messages(that_said(9, patterns, {{{{0}}}}, all_follow(9))));
  for (const wire::WaitCycle& cycle : {wire::WaitCycle{{{0}, {}}}, {{{1}}}, {{{0, 1}}}, {{{2}}}, {{{}}}})
    EXPECT_FALSE(partners::declared_messages(that_said(9, patterns, {cycle}, all_follow(9))));
}

}  // namespace
}  // namespace idlewave::analysis
