// The map of where ranks leave the model shows the places where they did, and no other.

#include "monitor/view/map/ghost_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/view/keys/update.h"
#include "monitor/view/screen/screen.h"
#include "tests/analysis/ring_model.h"
#include "tests/view/looks.h"

namespace idlewave::view {
namespace {

using analysis::program::Ghost;
using analysis::program::GhostFinder;
using test::ms;
using test::RingModel;
using ::testing::HasSubstr;

/// A program of 40 ranks, of which one computes longer once, and one is stopped behind its wait once; looked at whole.
class GhostMap : public ::testing::Test {
 protected:
  GhostMap() {
    program_.delays = {{5, 5, ms(100)}};
    program_.more_work = [](Rank rank, int step) { return rank == 30 && step == 60 ? ms(8) : ms(0); };
    program_.stopped_after_wait = [](Rank rank, int step) { return rank == 12 && step == 40 ? ms(5) : ms(0); };
    program_.run();
    program_.fill(timeline_);
    session_.link = LinkCondition::kEnded;
    state_.ghost = true;
    state_.zoom = 13;
  }

  Model model() const { return {timeline_, findings_, {}, session_, state_.ghost ? &finder_.found() : nullptr}; }
  paint::Canvas drawn() {
    if (const auto window = screen::ghost_window(state_, model(), kSize, look_)) finder_.observe(*window);
    return screen::draw(state_, model(), kSize, look_);
  }
  const Ghost& ghost() {
    drawn();
    return *finder_.found();
  }
  /// What the row of a rank holds in a window of time, column by column.
  std::vector<map::DepartureCell> row_of(Rank rank, Nanoseconds from, Nanoseconds column, int columns) {
    const RankRange row{rank, rank + 1};
    std::vector<map::DepartureCell> cells(static_cast<std::size_t>(columns));
    map::departures_over_time(ghost(), {&row, 1}, {.column = column, .first = from / column, .columns = columns},
                              cells);
    return cells;
  }

  RingModel program_;
  timeline::Timeline timeline_;
  analysis::session::Findings findings_;
  SessionInfo session_;
  Look look_;
  State state_;
  GhostFinder finder_{timeline_};
};

TEST_F(GhostMap, IsCalmButWhereARankLeftTheModel) {
  for (Rank rank = 0; rank < program_.ranks; ++rank) {
    for (int step = 30; step < 90; ++step) {
      SCOPED_TRACE(::testing::Message() << "rank " << rank << ", step " << step);
      const RingModel::Times& times = program_.times[std::size_t(step)][std::size_t(rank)];
      const auto at = Nanoseconds(std::int64_t(times.begin + times.work_end) / 2);
      const map::DepartureCell cell = row_of(rank, at, Nanoseconds(1000), 1).front();
      ASSERT_TRUE(cell.known);
      const bool leaves = rank == 30 && step == 60;
      EXPECT_EQ(map::ink_of(cell) == paint::Ink::kCompute, !leaves);
      if (!leaves) continue;
      EXPECT_NEAR(cell.steps, 0.8, 0.1);
    }
  }
}

TEST_F(GhostMap, HasDeparturesOfWaitingWhereTheRankWaited) {
  const RingModel::Times& times = program_.times[40][12];
  const auto wait = row_of(12, Nanoseconds(std::int64_t(times.work_end)), ms(1), 4);
  EXPECT_GT(wait[1].steps, 0.3);
  EXPECT_LT(row_of(12, Nanoseconds(std::int64_t(times.begin)), ms(1), 4)[1].steps, 0.05);
}

TEST_F(GhostMap, ShowsTheSameByStepsAndBySingleCells) {
  std::vector<map::DepartureCell> cells(100);
  const RankRange row{30, 31};
  map::departures_over_steps(ghost(), {&row, 1}, {.per_column = 1, .first = 0, .columns = 100}, cells);
  for (int step = 30; step < 90; ++step) EXPECT_EQ(cells[std::size_t(step)].steps > 0.5, step == 60) << step;
}

TEST_F(GhostMap, SaysInWordsWhatItShows) {
  const std::string text = paint::to_text(drawn());
  EXPECT_THAT(text, HasSubstr("as the model"));
  EXPECT_THAT(text, HasSubstr("of a step later"));
  EXPECT_THAT(text, HasSubstr("most by rank 30, step 60: 8.00 ms later at work"));
  const RingModel::Times& times = program_.times[40][12];
  EXPECT_EQ(map::departure_in_words(ghost(), 12, Nanoseconds(std::int64_t(times.work_end))),
            "as the model at work, 5.00 ms later by waiting");
  EXPECT_EQ(map::departure_in_words(ghost(), 12, std::chrono::hours(1)), "");
}

TEST_F(GhostMap, ComesAndGoesByItsKey) {
  state_.ghost = false;
  state_ = keys::update(state_, key_of(U'G'), model(), kSize, look_).state;
  EXPECT_TRUE(state_.ghost);
  EXPECT_THAT(paint::to_text(drawn()), HasSubstr("as the model"));
  state_ = keys::update(state_, key_of(U'G'), model(), kSize, look_).state;
  EXPECT_THAT(paint::to_text(drawn()), ::testing::Not(HasSubstr("as the model")));
}

TEST(GhostMapOfNothing, SaysWhyThereIsNoGhost) {
  const timeline::Timeline timeline;
  GhostFinder finder(timeline);
  EXPECT_THAT(map::ghost_in_words(finder.found()).front(), HasSubstr("no ghost: "));
}

}  // namespace
}  // namespace idlewave::view
