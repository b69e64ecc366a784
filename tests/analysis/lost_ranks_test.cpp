#include "monitor/analysis/session/lost_ranks.h"

#include <gmock/gmock.h>

#include "monitor/analysis/session/missing.h"
#include "tests/timeline/builders.h"

namespace idlewave::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using timeline::lost;
using timeline::ms;
using timeline::rank_lane;
using timeline::roster;
using timeline::start;
using timeline::stop;
using timeline::Timeline;
using wire::Nanoseconds;
using wire::Rank;

Timeline announced(Rank ranks) {
  Timeline timeline;
  EXPECT_TRUE(timeline.apply_roster("n", roster(0, ranks, ranks)));
  return timeline;
}

void tell(Timeline& timeline, Rank rank, const std::vector<wire::Event>& events) {
  timeline.append("n", rank_lane(rank), events);
}

TEST(LostRanks, AreNoneWhereAllSaidThatTheyStop) {
  Timeline timeline = announced(2);
  for (const Rank rank : {0, 1}) tell(timeline, rank, {start(ms(0)), stop(ms(10))});
  EXPECT_THAT(session::find_lost_ranks(timeline), IsEmpty());
  EXPECT_EQ(to_words(session::find_lost_ranks(timeline)), "");
}

TEST(LostRanks, LeaveASessionCompleteAndAreNamedInTheOrderInWhichTheyWereLost) {
  Timeline timeline = announced(4);
  tell(timeline, 0, {start(ms(0)), stop(ms(9'000))});
  tell(timeline, 1, {start(ms(0)), lost(ms(3'250))});
  tell(timeline, 2, {start(ms(0)), lost(ms(3'210))});
  tell(timeline, 3, {start(ms(0)), lost(ms(3'520))});
  timeline.mark_ended("n");
  EXPECT_TRUE(session::find_missing(timeline).is_complete());
  EXPECT_THAT(
      session::find_lost_ranks(timeline),
      ElementsAre(session::LostRank{ms(3'210), 2}, session::LostRank{ms(3'250), 1}, session::LostRank{ms(3'520), 3}));
  EXPECT_EQ(to_words(session::find_lost_ranks(timeline)),
            "rank 2 at 3.21 s and 2 more until 3.52 s, whose processes ended without saying so");
}

TEST(LostRanks, OneIsNamedAlone) {
  Timeline timeline = announced(1);
  tell(timeline, 0, {start(ms(0)), lost(ms(3'210))});
  EXPECT_EQ(to_words(session::find_lost_ranks(timeline)), "rank 0 at 3.21 s, whose process ended without saying so");
}

TEST(LostRanks, AreRememberedWhenTheirNextProcessRuns) {
  Timeline timeline = announced(1);
  tell(timeline, 0, {start(ms(0)), lost(ms(10)), start(ms(20))});
  EXPECT_THAT(session::find_lost_ranks(timeline), ElementsAre(session::LostRank{ms(10), 0}));
  tell(timeline, 0, {lost(ms(30))});
  EXPECT_THAT(session::find_lost_ranks(timeline),
              ElementsAre(session::LostRank{ms(10), 0}, session::LostRank{ms(30), 0}));
}

/// More than a list of losses keeps.
TEST(LostRanks, AreAllThereHoweverManyAreLostAtOnce) {
  constexpr Rank kMany = 20'000;
  Timeline timeline = announced(kMany);
  for (Rank rank = 0; rank < kMany; ++rank) tell(timeline, rank, {start(ms(0)), lost(ms(100 + rank))});
  ASSERT_LT(timeline.losses().size(), std::size_t(kMany));
  const auto all = session::find_lost_ranks(timeline);
  ASSERT_EQ(all.size(), std::size_t(kMany));
  EXPECT_EQ(all.front(), (session::LostRank{ms(100), 0}));
}

}  // namespace
}  // namespace idlewave::analysis
