// What takes memory, and what is forgotten for it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "monitor/timeline/timeline.h"
#include "tests/sanitized.h"
#include "tests/timeline/builders.h"

namespace idlewave::timeline {
namespace {

TEST(Timeline, CountsWhatStrangersDeclareAgainstItsBudget) {
  constexpr std::uint64_t kBudget = 64 << 20;
  Timeline timeline(kBudget);
  wire::Roster many;
  for (wire::DomainId id = 0; id < 100'000; ++id)
    many.domains.push_back({id, "", 0, 0, wire::BandwidthSource::kNone, ""});
  int taken = 0;
  for (int node = 0; node < 20; ++node) taken += timeline.apply_roster("n" + std::to_string(node), many);
  EXPECT_LT(taken, 20);
  EXPECT_LE(timeline.bytes_used(), kBudget / 8);
  wire::Roster crowd = roster(0, 0, wire::kMaxRanks);
  for (Rank rank = 0; rank < wire::kMaxRanks; ++rank) crowd.ranks.push_back({rank, 1, wire::kNoDomain});
  EXPECT_FALSE(timeline.apply_roster("crowd", crowd));
  EXPECT_LE(timeline.bytes_used(), kBudget / 8);
}

TEST(Timeline, CountsRanksThatAreOnlySaidToBeThereAgainstItsBudget) {
  Timeline timeline(64 << 20);
  ASSERT_TRUE(timeline.apply_roster("a", roster(0, 1, 100'000)));
  const wire::Roster vast = roster(1, 2, wire::kMaxRanks);
  EXPECT_FALSE(timeline.has_room_for("b", vast));
  EXPECT_FALSE(timeline.apply_roster("b", vast));
  EXPECT_EQ(timeline.ranks(), 100'000);
}

TEST(Timeline, CountsTheHolesThatItHasForgotten) {
  Timeline timeline;
  timeline.add_loss({LossKind::kRingFull, "n", 0, ms(0), ms(0), 1, {}});
  for (int i = 0; i < 20'000; ++i) timeline.add_loss({LossKind::kRankLost, "n", i, ms(i), ms(i), 1, {}});
  EXPECT_EQ(timeline.holes_forgotten(), 1u);
}

TEST(Timeline, LeavesOutRanksThatItHasNoRoomFor) {
  constexpr Rank kRoom = 20, kRanks = 50;
  Timeline timeline(kRoom * Lane::kLeastBytes);
  ASSERT_TRUE(timeline.apply_roster("n", roster(kRanks)));
  for (const int second : {0, 1})
    for (Rank rank = 0; rank < kRanks; ++rank)
      timeline.append("n", rank_lane(rank), std::vector{second == 0 ? start(ms(rank)) : stop(ms(1000 + rank))});
  timeline.advance("n", ms(2000));
  for (Rank rank = 0; rank < kRanks; ++rank) {
    EXPECT_EQ(timeline.lane(rank)->events(), rank < kRoom ? 2u : 0u);
    EXPECT_EQ(timeline.lane(rank)->is_left_out(), rank >= kRoom);
  }
  EXPECT_EQ(timeline.reporting("n"), kRanks) << "none of them is silent";
  EXPECT_EQ(timeline.dropped(), 60u);
  ASSERT_EQ(timeline.losses().size(), 1u);
  const Loss& loss = timeline.losses().front();
  EXPECT_EQ(loss.kind, LossKind::kNoRoom);
  EXPECT_EQ(loss.count, 60u);
  EXPECT_EQ(loss.detail, "20");
}

TEST(Timeline, NeedsLittleForRanksThatNeverSpeak) {
  Timeline timeline;
  wire::Roster many;
  many.world_size = 1'000'000;
  for (Rank rank = 0; rank < many.world_size; ++rank) many.ranks.push_back({rank, 1, wire::kNoDomain});
  ASSERT_TRUE(timeline.apply_roster("n", many));
  EXPECT_LT(timeline.bytes_used(), 200u * 1'000'000);
}

TEST(Timeline, AllocatesNothingForRanksThatAreNotAnnounced) {
  Timeline timeline;
  ASSERT_TRUE(timeline.apply_roster("n", roster(0, 4, wire::kMaxRanks)));
  EXPECT_EQ(timeline.ranks(), wire::kMaxRanks);
  EXPECT_LT(timeline.bytes_used(), 10'000u);
}

/// Long lives of many ranks, told a second at a time, all in turn.
void tell(Timeline& timeline, Rank ranks, int rounds) {
  std::vector<Event> events;
  for (int round = 0; round < rounds; ++round) {
    events.clear();
    for (int i = 0; i < 200; ++i)
      events.push_back(i % 10 == 0 ? step(ms(round * 1000 + i * 5), std::uint64_t(round * 20 + i / 10))
                                   : enter(ms(round * 1000 + i * 5), i % 2 ? Phase::kCompute : Phase::kWait));
    for (Rank rank = 0; rank < ranks; ++rank) timeline.append("n", rank_lane(rank), events);
    timeline.advance("n", ms((round + 1) * 1000));
  }
}

TEST(Timeline, StaysWithinItsBudgetAndIsHonestAboutIt) {
  for (const Rank ranks : {4, 400}) {
    malloc_trim(0);
    const std::size_t before = mallinfo2().uordblks;
    constexpr std::uint64_t kBudget = 24 << 20;
    Timeline timeline(kBudget);
    timeline.apply_roster("n", roster(ranks));
    tell(timeline, ranks, 4'000'000 / 200 / ranks);
    const auto grown = double(mallinfo2().uordblks - before);
    EXPECT_LE(timeline.bytes_used(), kBudget) << ranks << " ranks";
    if (tests::kSanitized) continue;  // its allocator does not say how much is in use
    EXPECT_GT(double(timeline.bytes_used()), 0.6 * grown) << ranks << " ranks";
    EXPECT_LT(double(timeline.bytes_used()), 1.4 * grown) << ranks << " ranks";
  }
}

TEST(Timeline, ForgetsTheOldestEventsOfAllRanksFirst) {
  Timeline timeline(8 << 20);
  timeline.apply_roster("n", roster(20));
  tell(timeline, 20, 400);
  Nanoseconds oldest = Nanoseconds::max();
  Nanoseconds youngest = Nanoseconds::min();
  for (Rank rank = 0; rank < 20; ++rank) {
    oldest = std::min(oldest, timeline.lane(rank)->events_from());
    youngest = std::max(youngest, timeline.lane(rank)->events_from());
  }
  EXPECT_GT(oldest, ms(1000));
  EXPECT_LE(youngest - oldest, ms(2000));
}

TEST(Timeline, KeepsWhatItForgotInCoarserBuckets) {
  Timeline timeline(8 << 20);
  timeline.apply_roster("n", roster(20));
  tell(timeline, 20, 400);
  const double compute = double(timeline.lane(5)->time_in(Category::kCompute, ms(0), ms(100'000)).count());
  EXPECT_NEAR(compute / double(ms(100'000).count()), 0.5, 0.01);
}

}  // namespace
}  // namespace idlewave::timeline
