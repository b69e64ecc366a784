// Whom ranks wait for, as they said it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "monitor/timeline/timeline.h"
#include "tests/any_seed.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

wire::Roster with_partners(wire::Roster roster, std::uint32_t cycle) {
  roster.patterns = {{.rendezvous = false, .collective = false, .from = {1}, .to = {}}};
  roster.cycles = {{{{0}}}, {{{}, {0}}}};
  for (wire::RankInfo& info : roster.ranks) info.cycle = cycle;
  return roster;
}

Event partners(Nanoseconds at, std::uint64_t cycle) { return {at, cycle, EventKind::kPartners, Phase::kNone}; }

TEST(Timeline, KnowsWhomARankWaitsForAsItSaidLast) {
  Timeline timeline;
  EXPECT_FALSE(timeline.declared_waits(0));
  timeline.apply_roster("n", with_partners(roster(2), 0));
  EXPECT_FALSE(timeline.declared_waits(0));
  timeline.append("n", rank_lane(0), std::vector{start(ms(0)), partners(ms(5), 1), partners(ms(6), 2)});
  ASSERT_TRUE(timeline.declared_waits(0));
  EXPECT_EQ(timeline.declared_waits(0)->cycle->steps.size(), 2u);
  EXPECT_FALSE(timeline.declared_waits(1));
  timeline.append("n", rank_lane(0), std::vector{partners(ms(7), 0)});
  EXPECT_FALSE(timeline.declared_waits(0));
}

/// Follows cycle `number` where there are so many, each of so many steps as is its number, and of other partners.
wire::Roster with_cycles(std::uint32_t cycles, std::uint32_t number) {
  wire::Roster made = roster(1);
  for (std::uint32_t cycle = 1; cycle <= cycles; ++cycle) {
    made.patterns.push_back({false, false, {Rank(cycle)}, {}});
    made.cycles.push_back({std::vector<std::vector<std::uint32_t>>(cycle, {cycle - 1})});
  }
  made.ranks[0].cycle = number;
  return made;
}

std::size_t cycle_in(const Timeline& timeline, wire::Step step) {
  const auto waits = timeline.declared_waits(0, step);
  return waits ? waits->cycle->steps.size() : 0;
}

/// What it said last up to a step; before it said anything, what it said first. By a list of what it said.
struct Said {
  std::map<wire::Step, std::uint32_t> cycles;

  std::uint32_t in(wire::Step step) const {
    if (cycles.empty()) return 0;
    const auto next = cycles.upper_bound(step);
    return next == cycles.begin() ? next->second : std::prev(next)->second;
  }
};

/// In all steps of a cycle of with_cycles it is the same.
Rank awaited(const DeclaredWaits& waits) { return waits.patterns[waits.cycle->steps[0][0]].from[0]; }

/// Rosters say the same, now and then, and sometimes before the rank's own word has come.
TEST(Timeline, KnowsWhomARankWaitedForInEachStep) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    constexpr int kCycles = 5;
    const int steps = round % 10 == 0 ? 3000 : 80;
    Timeline timeline;
    Said said;
    std::uint32_t now = 0;
    timeline.apply_roster("n", with_cycles(kCycles, 0));
    timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
    for (int number = 0; number < steps; ++number) {
      timeline.append("n", rank_lane(0), std::vector{step(ms(10 * number), std::uint64_t(number))});
      if (random() % 20 == 0) timeline.apply_roster("n", with_cycles(kCycles, now));
      if (random() % 6 != 0) continue;
      const auto next = std::uint32_t(random() % (kCycles + 1));
      if (next == now) continue;
      if (random() % 2 == 0) timeline.apply_roster("n", with_cycles(kCycles, next));
      timeline.append("n", rank_lane(0), std::vector{partners(ms(10 * number + 9), next)});
      said.cycles[number] = now = next;
    }
    wire::Step silent = 0;
    for (wire::Step number = 0; number < steps; ++number) {
      ASSERT_EQ(cycle_in(timeline, number), said.in(number)) << number;
      silent += said.in(number) == 0;
    }
    EXPECT_FALSE(timeline.partners_forgotten_before());
    EXPECT_DOUBLE_EQ(timeline.declared_share(0), 1 - double(silent) / steps);
  }
}

/// Where steps are counted again what was said last counts.
TEST(Timeline, KnowsWhomARankWaitedForAsItSaidLastWhereItsStepsBeginAnew) {
  Timeline timeline;
  timeline.apply_roster("n", with_cycles(3, 0));
  timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
  const auto tell = [&](int at, std::uint64_t number, std::uint64_t cycle) {
    timeline.append("n", rank_lane(0), std::vector{step(ms(at), number), partners(ms(at), cycle)});
  };
  tell(1, 0, 1), tell(2, 10, 2), tell(3, 20, 3);
  tell(4, 0, 2), tell(5, 15, 1);
  EXPECT_EQ(cycle_in(timeline, 5), 2u);
  EXPECT_EQ(cycle_in(timeline, 14), 2u);
  EXPECT_EQ(cycle_in(timeline, 15), 1u);
  EXPECT_EQ(cycle_in(timeline, 25), 1u);
  EXPECT_THAT(timeline.partner_changes(), testing::ElementsAre(0, 15));
}

/// What there is no room for is not known, and never taken for what was said later; and it is told that it is forgotten.
TEST(Timeline, ForgetsWhomRanksWaitedForLongAgoWhereTheySayTooMuch) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const auto ranks = Rank(1 + random() % 40);
    const auto budget = std::uint64_t{1} << (22 + random() % 5);
    const int steps = 1 + int(random() % 6000);
    Timeline timeline(budget);
    wire::Roster all = roster(ranks);
    all.patterns = with_cycles(5, 0).patterns, all.cycles = with_cycles(5, 0).cycles;
    ASSERT_TRUE(timeline.apply_roster("n", all));
    std::vector<Said> said(static_cast<std::size_t>(ranks));
    for (int number = 0; number < steps; ++number)
      for (Rank rank = 0; rank < ranks; ++rank) {
        if (random() % 3 == 0) continue;
        const auto cycle = std::uint32_t(1 + random() % 5);
        timeline.append("n", rank_lane(rank),
                        std::vector{step(ms(number), std::uint64_t(number)), partners(ms(number), cycle)});
        said[std::size_t(rank)].cycles[number] = cycle;
      }
    const wire::Step known_from = timeline.partners_forgotten_before().value_or(0);
    for (Rank rank = 0; rank < ranks; ++rank)
      for (wire::Step number = 0; number < steps; ++number) {
        const auto found = timeline.declared_waits(rank, number);
        const Rank truth = Rank(said[std::size_t(rank)].in(number));
        ASSERT_TRUE(!found || awaited(*found) == truth) << rank << ' ' << number;
        ASSERT_TRUE(found || number < known_from || truth == 0) << rank << ' ' << number;
      }
  }
}

/// As a rank tells a cycle of steps that it has not been through twice: each by itself, then the cycle.
TEST(Timeline, TakesACycleForWhatWasToldOfItsStepsOneByOne) {
  const std::uint64_t seed = any_seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + " of seed " + std::to_string(seed));
    const auto length = std::uint32_t(2 + random() % 6);
    const bool changes = random() % 2 == 0;
    wire::Roster made = roster(1);
    wire::WaitCycle whole;
    for (std::uint32_t number = 0; number <= length; ++number) {
      made.patterns.push_back({false, false, {Rank(number + 1)}, {}});
      made.cycles.push_back({{{number}}});  // cycle number + 1: that step alone
      if (number < length) whole.steps.push_back({number});
    }
    made.cycles.push_back(whole);
    Timeline timeline;
    timeline.apply_roster("n", made);
    timeline.append("n", rank_lane(0), std::vector{start(ms(0))});
    const int first = int(random() % 50), turn = first + 10, cycle_at = turn + int(length) + int(random() % length);
    const auto tell = [&](int number, std::uint64_t cycle) {
      timeline.append("n", rank_lane(0),
                      std::vector{step(ms(10 * number), std::uint64_t(number)), partners(ms(10 * number + 9), cycle)});
    };
    if (changes) tell(first, length + 1);  // another step, again and again
    for (int number = turn; number < cycle_at; ++number) tell(number, std::uint64_t(number) % length + 1);
    tell(cycle_at, length + 2);
    const auto steps_in = [&](int number) { return timeline.declared_waits(0, number)->cycle->steps.size(); };
    for (const int number : {turn, cycle_at - 1, cycle_at}) EXPECT_EQ(steps_in(number), length) << number;
    EXPECT_EQ(steps_in(turn - 1), changes ? 1u : length);
    EXPECT_EQ(timeline.partner_changes(), changes ? std::vector<wire::Step>{turn} : std::vector<wire::Step>{});
  }
}

TEST(Timeline, KnowsOfTheStepsBeforeNothingWhereAnAgentOrAProgramBeganAnew) {
  for (const bool by_program : {false, true}) {
    Timeline timeline;
    timeline.apply_roster("n", with_cycles(3, 1));
    timeline.append("n", rank_lane(0), std::vector{start(ms(0)), step(ms(1), 5), partners(ms(2), 2)});
    ASSERT_EQ(cycle_in(timeline, 0), 1u);
    ASSERT_THAT(timeline.partner_changes(), testing::ElementsAre(5));
    if (by_program) timeline.mark_ended("n");
    wire::Roster anew = with_cycles(3, 3);
    if (!by_program) anew.cycles.erase(anew.cycles.begin());
    timeline.apply_roster("n", anew);
    EXPECT_EQ(cycle_in(timeline, 0), by_program ? 3u : 0u);
    EXPECT_THAT(timeline.partner_changes(), testing::IsEmpty());
  }
}

TEST(Timeline, KeepsTheLatestChangesOfWhomRanksWaitForWithinItsBudget) {
  constexpr std::uint64_t kBudget = 4 << 20;
  Timeline timeline(kBudget);
  wire::Roster many = roster(4000);
  for (wire::RankInfo& info : many.ranks) info.cycle = 1;
  many.cycles = with_cycles(2, 1).cycles;
  timeline.apply_roster("n", many);
  const std::uint64_t before = timeline.bytes_used();
  for (Rank rank = 0; rank < 800; ++rank)
    for (int number = 0; number < 40; ++number)
      timeline.append("n", rank_lane(rank),
                      std::vector{step(ms(number), std::uint64_t(number)), partners(ms(number), 1 + (number + 1) % 2)});
  EXPECT_EQ(cycle_in(timeline, 39), 1u);
  EXPECT_EQ(cycle_in(timeline, 38), 2u);
  EXPECT_THAT(timeline.partner_changes(), testing::Contains(39));
  EXPECT_THAT(timeline.partner_changes(), testing::SizeIs(testing::Le(16u)));
  for (Rank rank = 0; rank < 800; ++rank) EXPECT_TRUE(timeline.declared_waits(rank, 39));
  EXPECT_LT(timeline.bytes_used(), kBudget);
  EXPECT_GT(timeline.bytes_used(), before);
}

TEST(Timeline, KnowsWhomARankWaitsForFromARosterThatCameLate) {
  Timeline timeline;
  timeline.apply_roster("n", with_partners(roster(2), 1));
  ASSERT_TRUE(timeline.declared_waits(1));
  EXPECT_EQ(timeline.declared_waits(1)->patterns.size(), 1u);
}

TEST(Timeline, DoesNotBelieveACycleThatNobodyDefined) {
  Timeline timeline;
  timeline.apply_roster("n", with_partners(roster(2), 2));
  for (const std::uint64_t number : {std::uint64_t{3}, std::uint64_t{1} << 32, wire::kMaxEventValue}) {
    timeline.append("n", rank_lane(0), std::vector{partners(ms(5), number)});
    EXPECT_FALSE(timeline.declared_waits(0)) << number;
  }
  timeline.append("n", rank_lane(0), std::vector{partners(ms(6), 2)});
  ASSERT_TRUE(timeline.declared_waits(0));
  wire::Roster fewer = with_partners(roster(1, 2, 2), 0);
  fewer.cycles.clear();
  ASSERT_TRUE(timeline.apply_roster("n", fewer));
  EXPECT_FALSE(timeline.declared_waits(0));
}

TEST(Timeline, CountsPatternsAgainstItsBudget) {
  Timeline timeline(1 << 20);
  wire::Roster greedy = with_partners(roster(2), 1);
  const std::uint64_t before = timeline.bytes_used();
  ASSERT_TRUE(timeline.apply_roster("n", greedy));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(timeline.apply_roster("n", greedy));
  EXPECT_LT(timeline.bytes_used(), before + 10'000) << "a roster that comes again takes no more";
  greedy.patterns[0].from.assign(100'000, 1);
  EXPECT_FALSE(timeline.has_room_for("n", greedy));
  EXPECT_FALSE(timeline.apply_roster("n", greedy));
  EXPECT_EQ(timeline.declared_waits(0)->patterns[0].from.size(), 1u);
}

}  // namespace
}  // namespace idlewave::timeline
