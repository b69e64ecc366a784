#include "monitor/analysis/session/missing.h"

#include <gmock/gmock.h>

#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using timeline::LossKind;
using timeline::ms;
using timeline::rank_lane;
using timeline::roster;
using timeline::start;
using timeline::stop;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;

/// Ranks [first, last) of `world` on a node, which start at 0, stop at `until` and are told of until then.
void tell(Timeline& timeline, const std::string& node, Rank first, Rank last, Rank world, Nanoseconds until) {
  wire::Roster announced = roster(first, last, world);
  announced.agent_pid = 1;
  ASSERT_TRUE(timeline.apply_roster(node, announced));
  for (Rank rank = first; rank < last; ++rank)
    timeline.append(node, rank_lane(rank), std::vector{start(ms(0)), stop(until)});
  timeline.advance(node, until);
}

TEST(Missing, IsNothingOnceEveryNodeHasSaidEnd) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 8, ms(100));
  tell(timeline, "b", 4, 8, 8, ms(100));
  timeline.mark_ended("a");
  EXPECT_FALSE(session::find_missing(timeline).is_complete());
  timeline.mark_ended("b");
  EXPECT_TRUE(session::find_missing(timeline).is_complete());
  EXPECT_EQ(to_words(session::find_missing(timeline)), "");
}

TEST(Missing, IsEverythingAtFirst) {
  EXPECT_FALSE(session::find_missing(Timeline()).is_complete());
  EXPECT_EQ(to_words(session::find_missing(Timeline())), "no rank was announced");
}

TEST(Missing, CallsNobodySilentWhomItHadNoRoomFor) {
  Timeline timeline(3 * timeline::Lane::kLeastBytes);
  tell(timeline, "a", 0, 5, 5, ms(1000));
  timeline.mark_ended("a");
  const session::Missing missing = session::find_missing(timeline);
  EXPECT_THAT(missing.unreported, IsEmpty());
  EXPECT_EQ(to_words(missing),
            "ranks 3-4 left out for want of memory, 4 events of a left out: --memory has room for 3 ranks (0.00 s to "
            "1.00 s)");
  EXPECT_THAT(session::losses_of(missing, ms(1000)), IsEmpty()) << "the timeline has that one";
}

TEST(Missing, NamesANodeThatDidNotSayEndAndWhenItWasLastHeard) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 8, ms(12'300));
  tell(timeline, "b", 4, 8, 8, ms(20'000));
  timeline.mark_ended("b");
  const session::Missing missing = session::find_missing(timeline);
  ASSERT_THAT(missing.nodes, SizeIs(1));
  EXPECT_TRUE(missing.nodes[0].behind);
  EXPECT_EQ(to_words(missing), "node a silent since 12.30 s");
  const auto losses = session::losses_of(missing, ms(20'000));
  ASSERT_THAT(losses, SizeIs(1));
  EXPECT_EQ(losses[0].kind, LossKind::kNodeSilent);
  EXPECT_EQ(losses[0].from, ms(12'300));
  EXPECT_EQ(losses[0].to, ms(20'000));
}

TEST(Missing, NamesTheRanksWhoseCallsNobodyHasSeen) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 4, ms(100));
  timeline.mark_ended("a");
  timeline.set_calls("a", {.rank = 1, .functions = {}, .pairs = {}});
  EXPECT_TRUE(session::find_missing(timeline).is_complete());
  timeline.set_calls("a", {.rank = 1, .functions = {}, .pairs = {}, .unseen = 1});
  EXPECT_EQ(to_words(session::find_missing(timeline)), "1 call of other threads on rank 1 not seen");
  timeline.set_calls("a", {.rank = 3, .functions = {}, .pairs = {}, .unseen = 23});
  const session::Missing missing = session::find_missing(timeline);
  EXPECT_FALSE(missing.has_all_since_start());
  EXPECT_EQ(to_words(missing), "24 calls of other threads on 2 ranks not seen");
  const auto losses = session::losses_of(missing, ms(100));
  ASSERT_THAT(losses, SizeIs(2));
  EXPECT_EQ(losses[1].kind, LossKind::kUnseenCalls);
  EXPECT_EQ(losses[1].rank, 3);
  EXPECT_EQ(losses[1].count, 23u);
  EXPECT_EQ(session::to_words(losses[1]), "23 calls of other threads on rank 3 not seen");
}

TEST(Missing, DoesNotWaitForTheEndOfANodeWithoutRanks) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 4, ms(100));
  timeline.mark_ended("a");
  timeline.apply_roster("watcher", wire::Roster{});
  EXPECT_TRUE(session::find_missing(timeline).is_complete());
}

TEST(Missing, NamesRanksThatNeverReportedAndThatNobodyAnnounced) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 12, ms(100));
  ASSERT_TRUE(timeline.apply_roster("a", roster(0, 8, 12)));
  timeline.mark_ended("a");
  const session::Missing missing = session::find_missing(timeline);
  EXPECT_EQ(to_words(missing), "a: 4 of 8 ranks never reported, ranks 8-11 never announced");
  EXPECT_FALSE(missing.has_all_since_start());
}

TEST(Missing, NamesARankThatRanWhenItsAgentSaidEnd) {
  Timeline timeline;
  wire::Roster announced = roster(2);
  announced.agent_pid = 1;
  timeline.apply_roster("a", announced);
  timeline.append("a", rank_lane(0), std::vector{start(ms(0))});
  timeline.append("a", rank_lane(1), std::vector{start(ms(0)), stop(ms(9))});
  timeline.mark_ended("a");
  EXPECT_EQ(to_words(session::find_missing(timeline)), "rank 0 not told to the end");
}

TEST(Missing, NamesHolesWithPlaceAndTime) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 4, ms(100));
  timeline.mark_ended("a");
  timeline.add_loss({LossKind::kSequenceGap, "a", -1, ms(20), ms(40), 3, {}});
  timeline.add_loss({LossKind::kRankLost, "a", 2, ms(50), ms(50), 1, {}});
  timeline.add_loss({LossKind::kBadFrame, "a", -1, ms(50), ms(50), 1, "somebody's"});
  const session::Missing missing = session::find_missing(timeline);
  ASSERT_THAT(missing.holes, SizeIs(1));
  EXPECT_EQ(to_words(missing), "3 frames from a missing (0.02 s to 0.04 s)");
}

TEST(Missing, DoesNotMissWhatAStrangerTells) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 4, ms(100));
  timeline.mark_ended("a");
  timeline.append("nobody", rank_lane(0), std::vector{start(ms(5))});
  EXPECT_TRUE(session::find_missing(timeline).is_complete());
  timeline.append("a", rank_lane(7), std::vector{start(ms(5))});
  EXPECT_FALSE(session::find_missing(timeline).is_complete());
}

TEST(Missing, TellsALateStartFromWhatIsMissingSince) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 4, ms(100));
  timeline.mark_ended("a");
  timeline.add_loss({LossKind::kBeforeStart, "a", -1, ms(0), ms(0), 99, {}});
  const session::Missing missing = session::find_missing(timeline);
  EXPECT_FALSE(missing.is_complete());
  EXPECT_TRUE(missing.has_all_since_start());
}

TEST(Missing, IsToldInAFewWordsHoweverMuchItIs) {
  Timeline timeline;
  wire::Roster many;
  many.world_size = 50'000;
  timeline.apply_roster("a", many);
  for (Rank rank = 0; rank < 50'000; rank += 2) many.ranks.push_back({rank, 1, wire::kNoDomain});
  timeline.apply_roster("a", many);
  const session::Missing missing = session::find_missing(timeline);
  EXPECT_LE(missing.ranks.size(), 1000u);
  EXPECT_EQ(to_words(missing),
            "node a silent since it announced itself, a: 25000 of 25000 ranks never reported, rank 1 never announced "
            "and 49499 more");
}

TEST(Missing, RemembersHolesThatTheLogHasForgotten) {
  Timeline timeline;
  tell(timeline, "a", 0, 4, 4, ms(100));
  timeline.mark_ended("a");
  timeline.add_loss({LossKind::kRingFull, "a", 0, ms(0), ms(0), 1, {}});
  for (int i = 0; i < 20'000; ++i) timeline.add_loss({LossKind::kRankLost, "a", i, ms(i), ms(i), 1, {}});
  EXPECT_THAT(session::find_missing(timeline).holes, IsEmpty());
  EXPECT_FALSE(session::find_missing(timeline).is_complete());
}

}  // namespace
}  // namespace idlewave::analysis
