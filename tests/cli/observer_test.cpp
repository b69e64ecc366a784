#include "monitor/cli/observer.h"

#include <gtest/gtest.h>

#include "tests/analysis/ring_model.h"

namespace idlewave::cli {
namespace {

using test::ms;
using test::RingModel;

constexpr Nanoseconds kWindow = std::chrono::seconds(5);

/// What the last screen says of steps once the stream is over.
analysis::session::StepTimes last_steps(Observer& observer) {
  observer.timeline().mark_ended("n1");
  observer.refresh(ms(0), observer.timeline().now(), kWindow);
  return observer.findings().steps;
}

TEST(Observer, DescribesAProgramThatIsOverAsItLastRanInFull) {
  RingModel model;
  model.run();
  Observer observer({}, 64 << 20);
  model.fill(observer.timeline());
  observer.timeline().advance("n1", ms(30'000));
  EXPECT_GT(last_steps(observer).steps, 0);
  EXPECT_EQ(observer.findings().domains[0].silent, 0);
}

TEST(Observer, DescribesTheLastOfTwoProgramsThoughItHadFewerRanks) {
  RingModel first, second;
  second.ranks = 10;
  second.work = ms(25);
  first.run();
  second.run();
  Observer observer({}, 64 << 20);
  first.fill(observer.timeline());
  second.run_again(observer.timeline(), ms(60'000));
  EXPECT_EQ(last_steps(observer).mean, ms(25));
}

/// As ranks of a short program that had nothing to do.
TEST(Observer, DescribesAProgramOfWhichSomeRanksStoppedEarlyByThoseThatRan) {
  RingModel model;
  model.run();
  Observer observer({}, 64 << 20);
  observer.timeline().apply_roster("n1", model.roster());
  for (wire::Rank rank = 0; rank < model.ranks; ++rank) {
    std::vector<wire::Event> events = model.events_of(rank);
    if (rank >= 20) events = {events.front(), {ms(1), 0, wire::EventKind::kStop, wire::Phase::kNone}};
    observer.timeline().append("n1", {wire::LaneId::Kind::kRank, rank}, events);
  }
  observer.timeline().advance("n1", ms(1000));
  EXPECT_GT(last_steps(observer).steps, 1900);
}

TEST(Observer, CountsDamagedBlocksOfARecordingAsALoss) {
  Observer observer({}, 64 << 20);
  observer.note_damage({.blocks_skipped = 2, .first = "damaged block at byte 99"});
  ASSERT_EQ(observer.timeline().losses().size(), 1u);
  EXPECT_EQ(observer.timeline().losses()[0].kind, timeline::LossKind::kDetail);
  EXPECT_EQ(observer.timeline().losses()[0].count, 2u);
}

TEST(Observer, TakesARecordingThatWasNotClosedForOneThatMayLackItsEnd) {
  Observer observer({}, 64 << 20);
  observer.note_damage({.cut = true, .first = "the recording was not closed or is cut; it ends at byte 99"});
  ASSERT_EQ(observer.timeline().losses().size(), 1u);
  EXPECT_EQ(observer.timeline().losses()[0].kind, timeline::LossKind::kNotClosed);
  EXPECT_TRUE(is_hole(timeline::LossKind::kNotClosed));
}

/// As a node tells it: one that has not heard of the latest yet tells an older one.
TEST(Observer, KnowsTheLatestPageOfALessonThatAnyNodeTellsOf) {
  Observer observer({}, 64 << 20);
  const auto tell = [&](const char* node, std::uint64_t sequence, std::optional<wire::LessonPage> page) {
    wire::Roster roster;
    roster.lesson = std::move(page);
    observer.accept({ms(0), wire::Direction::kReceived, wire::encode({"s", node, sequence, roster})});
  };
  tell("n1", 1, std::nullopt);
  EXPECT_EQ(observer.lesson_shown(), std::nullopt);
  const wire::LessonPage older{.number = 6, .title = "a pause"}, latest{.number = 7, .title = "a pause"};
  tell("n1", 2, latest);
  tell("n2", 1, older);
  tell("n2", 2, std::nullopt);
  EXPECT_EQ(observer.lesson_shown(), latest);
}

}  // namespace
}  // namespace idlewave::cli
