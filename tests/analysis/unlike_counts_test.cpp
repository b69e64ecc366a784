// Whether the numbers of steps go together: programs in which ranks are far apart and count alike, and the same programs
// with ranks that count otherwise.

#include "monitor/analysis/partners/unlike_counts.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "monitor/analysis/causes/causes.h"
#include "monitor/analysis/causes/ground_search.h"
#include "monitor/analysis/session/findings.h"
#include "tests/analysis/ring_model.h"

namespace idlewave::analysis {
namespace {

using test::ms;
using test::RingModel;
using testing::IsEmpty;
using timeline::Timeline;
using wire::Step;

/// What number a rank gives to a step.
using Numbering = std::function<Step(Rank, Step)>;

Step as_it_is(Rank, Step step) { return step; }

/// Each rank says whom it waits for.
wire::Roster roster_of(const RingModel& model) {
  wire::Roster roster = model.roster();
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    wire::WaitPattern& pattern = roster.patterns.emplace_back();
    for (const int distance : model.distances)
      if (model.partner(rank, -distance) >= 0) pattern.from.push_back(-distance);
    roster.cycles.push_back({{{std::uint32_t(rank)}}});
    roster.ranks[std::size_t(rank)].cycle = std::uint32_t(rank) + 1;
  }
  return roster;
}

Timeline told_with(const wire::Roster& roster, RingModel model, const Numbering& number) {
  model.run();
  Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n1", roster));
  Nanoseconds last{};
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    std::vector<wire::Event> events = model.events_of(rank);
    for (wire::Event& event : events)
      if (event.kind == wire::EventKind::kStep) event.value = std::uint64_t(number(rank, Step(event.value)));
    last = std::max(last, events.back().time);
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", last);
  return timeline;
}

Timeline told(const RingModel& model, const Numbering& number, bool say_partners = true) {
  return told_with(say_partners ? roster_of(model) : model.roster(), model, number);
}

RingModel ring_of_eight() {
  RingModel model;
  model.ranks = 8;
  return model;
}

/// Rank 3 counts an inner loop that comes three times in each step of the others.
Step rank_3_counts_thrice(Rank rank, Step step) { return rank == 3 ? 3 * step : step; }

TEST(UnlikeCounts, AreFoundWhereARankCountsAnInnerLoop) {
  const auto found = partners::find_unlike_counts(told(ring_of_eight(), rank_3_counts_thrice));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 3);
  EXPECT_THAT(found->behind, testing::AnyOf(2, 4));
  EXPECT_GT(found->step, found->its_step + 3);
}

TEST(UnlikeCounts, AreStillFoundWhereRanksNoLongerSayWhomTheyWaitFor) {
  const auto before = partners::find_unlike_counts(told(ring_of_eight(), rank_3_counts_thrice));
  ASSERT_TRUE(before);
  const Timeline later = told(ring_of_eight(), rank_3_counts_thrice, false);
  EXPECT_FALSE(partners::find_unlike_counts(later));
  const auto still = partners::still_unlike(later, *before);
  ASSERT_TRUE(still);
  EXPECT_EQ(still->rank, 3);
  EXPECT_EQ(still->behind, before->behind);
  EXPECT_TRUE(still->is_awaited);
  EXPECT_FALSE(partners::still_unlike(told(ring_of_eight(), as_it_is, false), *before));
}

TEST(UnlikeCounts, AreFoundWhereARankBeganToCountSixStepsBefore) {
  const auto found = partners::find_unlike_counts(
      told(ring_of_eight(), [](Rank rank, Step step) { return rank == 0 ? step + 6 : step; }));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 0);
}

TEST(UnlikeCounts, AreNoneWhereAWaveHasOneEndOfAChainFarBehindTheOther) {
  RingModel model;
  model.ranks = 200;
  model.ring = false;
  model.delays = {{0, 2, ms(5000)}};
  EXPECT_FALSE(partners::find_unlike_counts(told(model, as_it_is)));
}

TEST(UnlikeCounts, AreNoneWhereRanksNeedNotWaitForWhoIsBehind) {
  RingModel model = ring_of_eight();
  model.ring = false;
  model.distances = {1};
  model.delays = {{7, 0, ms(5000)}};
  EXPECT_FALSE(partners::find_unlike_counts(told(model, as_it_is)));
}

TEST(UnlikeCounts, AreNoneWhereAllCountTensOrStartOneLater) {
  EXPECT_FALSE(partners::find_unlike_counts(told(ring_of_eight(), [](Rank, Step step) { return 10 * step; })));
  EXPECT_FALSE(
      partners::find_unlike_counts(told(ring_of_eight(), [](Rank rank, Step step) { return step + rank % 2; })));
}

/// Rank 3 counts an inner loop that comes thirty times in each step of the others.
Step rank_3_counts_thirty(Rank rank, Step step) { return rank == 3 ? 30 * step : step; }

TEST(UnlikeCounts, AreFoundWhereNobodySaysWhomItWaitsFor) {
  const Timeline timeline = told(ring_of_eight(), rank_3_counts_thirty, false);
  const auto found = partners::find_unlike_counts(timeline);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 3);
  EXPECT_FALSE(found->is_awaited);
  EXPECT_GE(found->step, 29 * found->its_step);
  EXPECT_EQ(to_words(*found).find("waits for"), std::string::npos);
  EXPECT_TRUE(causes::cause_ground(timeline).partners.unlike_counts);
}

TEST(UnlikeCounts, AreNoneWhereNobodySaysWhomItWaitsForAndAllCountAlike) {
  EXPECT_FALSE(partners::find_unlike_counts(told(ring_of_eight(), as_it_is, false)));
  RingModel chain;
  chain.ranks = 60;
  chain.ring = false;
  chain.delays = {{0, 2, ms(50'000)}};
  EXPECT_FALSE(partners::find_unlike_counts(told(chain, as_it_is, false)));
}

TEST(UnlikeCounts, AreNoneWhereOneThatOnlySendsIsTwiceAsFast) {
  EXPECT_FALSE(partners::find_unlike_counts(told(
      ring_of_eight(), [](Rank rank, Step step) { return rank == 3 ? 2 * step : step; }, false)));
}

/// Who waits for whom is not as the model has it.
wire::Roster roster_of_eight(const std::vector<std::pair<Rank, std::vector<Rank>>>& waits) {
  wire::Roster roster = ring_of_eight().roster();
  for (const auto& [rank, from] : waits) {
    roster.patterns.push_back({.from = from});
    roster.cycles.push_back({{{std::uint32_t(roster.patterns.size()) - 1}}});
    roster.ranks[std::size_t(rank)].cycle = std::uint32_t(roster.cycles.size());
  }
  return roster;
}

TEST(UnlikeCounts, AreFoundWhereOneThatSaysItWaitsForNobodyIsFarAheadOfWhoDoesNotSay) {
  const wire::Roster roster = roster_of_eight({{3, {}}, {2, {1}}, {4, {-1}}});
  const auto found = partners::find_unlike_counts(told_with(roster, ring_of_eight(), rank_3_counts_thirty));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 3);
  EXPECT_THAT(found->behind, testing::AnyOf(0, 1, 5, 6, 7));
  EXPECT_FALSE(found->is_awaited);
}

TEST(UnlikeCounts, AreNoneWhereAMasterIsFarAheadOfEachOfItsWorkers) {
  using Says = std::optional<std::vector<Rank>>;
  for (const Says& master_says : {Says(), Says(std::vector<Rank>()), Says(std::vector<Rank>{1})}) {
    std::vector<std::pair<Rank, std::vector<Rank>>> waits;
    for (Rank rank = 0; rank < 8; ++rank)
      if (rank != 3) waits.push_back({rank, {3 - rank}});
    if (master_says) waits.push_back({3, *master_says});
    EXPECT_FALSE(
        partners::find_unlike_counts(told_with(roster_of_eight(waits), ring_of_eight(), rank_3_counts_thirty)));
  }
}

/// Rank 5 comes to ten steps, and rank 3 goes on alone to say whom it waits for; all have called a collective so often.
std::optional<partners::UnlikeCounts> found_of_one_left_behind(std::uint64_t calls, std::uint64_t calls_of_last) {
  RingModel model = ring_of_eight();
  model.steps = 200;
  model.run();
  wire::Roster roster = roster_of_eight({{5, {-2}}, {3, {}}});
  Timeline timeline;
  timeline.apply_roster("n1", roster);
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    std::vector<wire::Event> events = model.events_of(rank);
    if (rank == 5)
      std::erase_if(events,
                    [](const wire::Event& event) { return event.kind == wire::EventKind::kStep && event.value > 10; });
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    timeline.advance("n1", events.back().time);
    const wire::FunctionSums reduce{"MPI_Allreduce", rank == 7 ? calls_of_last : calls, 8, 0, ms(1), ms(1)};
    const wire::FunctionSums send{"MPI_Send", 100'000, 8, 0, ms(1), ms(1)};
    timeline.set_calls("n1", {.rank = rank, .pid = 100, .functions = {reduce, send}});
  }
  return partners::find_unlike_counts(timeline);
}

TEST(UnlikeCounts, AreFoundWhereOneTellsOfNoStepsAnyMoreWhoMeetsAllAsOften) {
  const auto found = found_of_one_left_behind(200, 200);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->behind, 5);
  EXPECT_EQ(found->its_step, 10);
  EXPECT_GE(found->step, 198);
  EXPECT_TRUE(found->has_met);
  EXPECT_THAT(to_words(*found),
              testing::HasSubstr("rank 5, which it meets as often in collectives, had come to step 10"));
}

/// As one that works no more for a master that goes on with others.
TEST(UnlikeCounts, AreNoneWhereOneTellsOfNoStepsAnyMoreAndNotAllMeetInThem) {
  EXPECT_FALSE(found_of_one_left_behind(100, 100));
  EXPECT_FALSE(found_of_one_left_behind(200, 199));
}

/// As a script may start three programs, the last of them with more ranks.
TEST(UnlikeCounts, AreNoneWhereARankCameWithALaterProgram) {
  RingModel model = ring_of_eight();
  model.run();
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n1", roster_of(model)));
  Nanoseconds length{};
  for (Rank rank = 0; rank < model.ranks; ++rank) length = std::max(length, model.events_of(rank).back().time);
  for (int program = 0; program < 3; ++program) {
    for (Rank rank = 0; rank < model.ranks; ++rank) {
      std::vector<wire::Event> events = model.events_of(rank);
      for (wire::Event& event : events) event.time += program * length;
      if (rank != 3 || program == 2) timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
    }
  }
  timeline.advance("n1", 3 * length);
  EXPECT_FALSE(partners::find_unlike_counts(timeline));
}

TEST(UnlikeCounts, LeaveNothingToSayOfWavesAndCauses) {
  RingModel model = ring_of_eight();
  model.delays = {{5, 20, ms(300)}};
  const Timeline timeline = told(model, rank_3_counts_thrice);
  EXPECT_THAT(waves::find_waves(timeline, {Nanoseconds{0}, Nanoseconds::max()}), IsEmpty());
  const causes::Causes causes = causes::find_causes(timeline, {Nanoseconds{0}, Nanoseconds::max()});
  for (const causes::RankCauses& each : causes.ranks) {
    EXPECT_THAT(each.by, IsEmpty());
    EXPECT_EQ(each.unknown, each.waited);
  }
  EXPECT_GT(causes.ranks[4].waited, ms(0));
}

TEST(UnlikeCounts, LeaveNothingToSayOfDomainsButThatNobodyIsThereToBeInStepWith) {
  session::Findings findings;
  findings.domains = {{.state = domains::DomainState::kStraggler, .state_since = ms(1), .straggler = 3},
                      {.state = domains::DomainState::kAlone, .state_since = ms(2)}};
  session::leave_out_steps(findings);
  EXPECT_EQ(findings.domains[0].state, domains::DomainState::kStepsDiffer);
  EXPECT_EQ(findings.domains[0].straggler, -1);
  EXPECT_FALSE(findings.domains[0].state_since);
  EXPECT_EQ(findings.domains[1].state, domains::DomainState::kAlone);
}

/// The second half of the ranks stops in the middle.
TEST(UnlikeCounts, EndWhatIsToldOfDomainsButThatNobodyWorksThere) {
  RingModel model = ring_of_eight();
  model.steps = 400;
  model.ranks_per_domain = 4;
  model.run();
  Timeline timeline;
  timeline.apply_roster("n1", roster_of(model));
  for (Rank rank = 0; rank < model.ranks; ++rank) {
    auto events = model.events_of(rank);
    if (rank >= 4) {
      events.resize(events.size() / 2);
      events.push_back({events.back().time, 0, wire::EventKind::kStop, wire::Phase::kNone});
    }
    timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  timeline.advance("n1", ms(3500));
  domains::DomainStates states;
  states.follow(timeline);
  for (const bool differ : {false, true}) {
    session::Narrator narrator;
    if (differ) narrator.observe_counts(partners::UnlikeCounts{});
    narrator.observe(timeline, {}, states, timeline.now());
    std::string told;
    for (const session::Remark& remark : narrator.remarks())
      if (remark.kind == session::Remark::Kind::kDomain) told += remark.text + "\n";
    EXPECT_THAT(told, testing::HasSubstr("no longer active"));
    EXPECT_EQ(told.find("lockstep") != std::string::npos, !differ) << told;
  }
}

TEST(UnlikeCounts, AreToldOnce) {
  const Timeline timeline = told(ring_of_eight(), rank_3_counts_thrice);
  session::Narrator narrator;
  for (int i = 0; i < 3; ++i) narrator.observe_counts(causes::cause_ground(timeline).partners.unlike_counts);
  ASSERT_EQ(narrator.remarks().size(), 1u);
  EXPECT_THAT(narrator.remarks()[0].text, testing::StartsWith("ranks count steps differently: when rank 3 began step"));
}

}  // namespace
}  // namespace idlewave::analysis
