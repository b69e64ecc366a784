// The small parts that a screen is made of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "monitor/view/keys/input.h"
#include "monitor/view/layout/rank_rows.h"
#include "monitor/view/layout/time_window.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"
#include "tests/any_seed.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {

namespace {

using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::seconds;
using ::testing::ElementsAre, ::testing::HasSubstr;

TEST(Canvas, IgnoresWhatLiesOutside) {
  paint::Canvas canvas({3, 2});
  canvas.put(-1, 0, {.glyph = U'x'});
  canvas.put(3, 1, {.glyph = U'x'});
  canvas.fill(-5, -5, 50, 50, {.glyph = U'.'});
  canvas.text(1, 1, "abcdef", paint::Ink::kText);
  EXPECT_EQ(paint::to_text(canvas), "...\n.ab\n");
}

TEST(Canvas, CountsCodePointsAndClips) {
  paint::Canvas canvas({10, 1});
  EXPECT_EQ(canvas.text(0, 0, "µ·█x", paint::Ink::kText, paint::Ink::kDefault, false, 3), 3);
  EXPECT_EQ(paint::to_text(canvas), "µ·█\n");
}

TEST(Canvas, OfNoSizeIsHarmless) {
  paint::Canvas canvas({0, -3});
  canvas.text(0, 0, "x", paint::Ink::kText);
  EXPECT_EQ(paint::to_text(canvas), "");
}

TEST(Text, PutsAMarkForWhatATerminalMayNotDrawInOneColumn) {
  for (const char32_t bad :
       {U'\x1b', U'\a', U'\u009b', U'\u0301', U'\u202e', U'\u4e2d', U'\U0001f600', U'\u00ad', U'\ufeff', U'\u200b'})
    EXPECT_EQ(paint::one_column(bad), U'?');
  for (const char32_t good : std::u32string_view(U"aZ~é│█▀·µ×◆")) EXPECT_EQ(paint::one_column(good), good);
}

TEST(Text, ReadsAnyBytesToTheirEnd) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int round = 0; round < 1000; ++round) {
    std::string bytes(random() % 20 + 1, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    std::string_view rest = bytes;
    while (!rest.empty()) {
      const auto before = rest.size();
      const char32_t c = paint::take_code_point(rest);
      ASSERT_LT(rest.size(), before) << "seed " << seed;
      ASSERT_LE(c, 0x10ffffu) << "seed " << seed;
    }
  }
}

TEST(Text, RefusesOverlongAndSurrogateForms) {
  for (std::string_view bytes : {"\xc0\xaf", "\xe0\x80\x9b", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x9b"})
    EXPECT_EQ(paint::take_code_point(bytes), paint::kUnprintable);
}

TEST(Text, IsWrappedAtSpacesAndBrokenWhereItMust) {
  EXPECT_THAT(paint::wrapped("to be or not", 5), ElementsAre("to be", "or", "not"));
  EXPECT_THAT(paint::wrapped("abcdefgh ij", 3), ElementsAre("abc", "def", "gh", "ij"));
  EXPECT_THAT(paint::wrapped("", 5), ElementsAre());
  EXPECT_THAT(paint::wrapped("measured 5.0 ± 0.1 ranks, 51 % of it", 17),
              ElementsAre("measured", "5.0 ± 0.1 ranks,", "51 % of it"));
  EXPECT_THAT(paint::wrapped("5.0 ± 0.1", 4), ElementsAre("5.0 ", "± 0.", "1"));
}

TEST(Text, IsShortenedWithADotsGlyph) {
  EXPECT_EQ(paint::shortened("socket 0", 8), "socket 0");
  EXPECT_EQ(paint::shortened("socket 0", 5), "sock…");
}

TEST(Text, IsShortenedInsideSoThatItsNumberStays) {
  EXPECT_EQ(paint::shortened_inside("virtual socket 12", 17), "virtual socket 12");
  EXPECT_EQ(paint::shortened_inside("virtual socket 12", 11), "virtual… 12");
  EXPECT_EQ(paint::shortened_inside("virtual socket 12", 5), "v… 12");
  EXPECT_EQ(paint::shortened_inside("virtual socket 12", 4), "vir…");
  EXPECT_EQ(paint::shortened_inside("socket", 5), "sock…");
}

TEST(Figures, HaveAtMostThreeDigitsAndAUnit) {
  EXPECT_EQ(paint::to_duration(microseconds(24900)), "24.9 ms");
  EXPECT_EQ(paint::to_duration(milliseconds(1200)), "1.20 s");
  EXPECT_EQ(paint::to_duration(milliseconds(1000)), "1.00 s");
  EXPECT_EQ(paint::to_duration(Nanoseconds(999'600)), "1.00 ms");
  EXPECT_EQ(paint::to_duration(Nanoseconds(500)), "500 ns");
  EXPECT_EQ(paint::to_duration(Nanoseconds(0)), "0 s");
  EXPECT_EQ(paint::to_duration(seconds(125)), "2 min 5 s");
  EXPECT_EQ(paint::to_duration(seconds(3720)), "1 h 2 min");
  EXPECT_EQ(paint::to_bytes(1'100'000), "1.10 MB");
  EXPECT_EQ(paint::to_bytes(999'999), "1.00 MB");
  EXPECT_EQ(paint::to_bytes(7), "7 B");
  EXPECT_EQ(paint::to_count(12400), "12.4 k");
  EXPECT_EQ(paint::to_count(412), "412");
  EXPECT_EQ(paint::to_percent(0.27), "27 %");
}

TEST(Figures, OfAMomentTellTwoColumnsApart) {
  EXPECT_EQ(paint::to_moment(milliseconds(12432), milliseconds(100)), "12.4 s");
  EXPECT_EQ(paint::to_moment(milliseconds(12432), milliseconds(1)), "12.432 s");
}

TEST(Input, ReadsPlaces) {
  EXPECT_EQ(std::get<Nanoseconds>(*keys::parse_place("3.2s", 40)), milliseconds(3200));
  EXPECT_EQ(std::get<Rank>(*keys::parse_place("rank 12", 40)), 12);
  EXPECT_EQ(std::get<wire::Step>(*keys::parse_place("step 400", 40)), 400);
  for (const char* wrong : {"", "12", "rank 40", "rank", "step -1", "step x", "-3s"})
    EXPECT_FALSE(keys::parse_place(wrong, 40)) << wrong;
}

TEST(Pieces, LeaveTheLightestOutAndKeepTheirOrder) {
  const paint::Fit fitted =
      paint::fit({{.text = "aaaa", .weight = 1}, {.text = "bb", .weight = 3}, {.text = "cc", .weight = 2}}, 6);
  ASSERT_EQ(fitted.shown.size(), 2u);
  EXPECT_EQ(fitted.shown[0].text, "bb");
  EXPECT_EQ(fitted.left_out[0].text, "aaaa");
}

// --- time
// -------------------------------------------------------------------------------------------------------------------------------

TEST(TimeWindow, KeepsTheNewestColumnLastWhenItScrollsSmoothly) {
  State state;
  state.zoom = 10;  // About a millisecond a column.
  for (Nanoseconds edge = seconds(3); edge < seconds(4); edge += milliseconds(7)) {
    const layout::TimeWindow window = layout::time_window(state, {.edge = edge}, 80, true);
    EXPECT_EQ(window.x_of(edge - Nanoseconds(1)), 79);
  }
}

TEST(TimeWindow, JumpsByAQuarterElsewhere) {
  State state;
  state.zoom = 10;  // About a millisecond a column.
  std::int64_t before = 0;
  for (Nanoseconds edge = seconds(0); edge < seconds(4); edge += milliseconds(7)) {
    const layout::TimeWindow window = layout::time_window(state, {.edge = edge}, 80, false);
    EXPECT_TRUE(window.first == before || window.first == before + 20 || edge == Nanoseconds::zero());
    EXPECT_TRUE(edge == Nanoseconds::zero() || window.shows(edge - Nanoseconds(1)));
    before = window.first;
  }
  EXPECT_GT(before, 0);
}

TEST(TimeWindow, FitsFiveSecondsUnlessToldOtherwise) {
  for (int columns = 3; columns < 400; ++columns) {
    const Nanoseconds length = layout::time_window({}, {.edge = seconds(100)}, columns, true).column * columns;
    EXPECT_GE(length, seconds(5)) << columns;
    EXPECT_LE(length, seconds(5) + Nanoseconds(columns)) << columns;
  }
}

TEST(TimeWindow, FitsAllOfASessionThatIsKnownToBeShorter) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int round = 0; round < 1000; ++round) {
    const int columns = static_cast<int>(random() % 398) + 3;
    const Nanoseconds whole = milliseconds(1 + static_cast<int>(random() % 9999));
    const layout::TimeWindow window =
        layout::time_window({}, {.edge = whole, .whole = whole}, columns, random() % 2 == 0);
    ASSERT_EQ(window.from(), Nanoseconds::zero()) << "seed " << seed;
    ASSERT_GE(window.to(), whole) << "seed " << seed;
    ASSERT_LT(window.to(), whole + milliseconds(1)) << "seed " << seed;
  }
}

TEST(TimeAxis, HasRoundLabelsThatDoNotTouch) {
  const unsigned seed = any_seed();
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    State state;
    state.follow = false;
    state.zoom = static_cast<int>(random() % (layout::kLargestZoom + 1));
    state.window_begin = Nanoseconds(random() % 3'600'000'000'000);
    const layout::TimeWindow window =
        layout::time_window(state, {.edge = seconds(3600)}, static_cast<int>(random() % 398) + 3, true);
    int free_from = 0;
    for (const layout::Tick& tick : layout::ticks(window)) {
      ASSERT_GE(tick.x, free_from) << "seed " << seed;
      free_from = tick.x + 1 + paint::columns_of(tick.label) + 1;
      ASSERT_LE(free_from - 1, window.columns) << "seed " << seed;
      ASSERT_THAT(tick.label, HasSubstr(" s")) << "seed " << seed;
    }
  }
}

// --- ranks
// ------------------------------------------------------------------------------------------------------------------------------

std::vector<layout::RankSegment> sockets(Rank ranks, Rank each) {
  std::vector<layout::RankSegment> out;
  for (Rank first = 0; first < ranks; first += each)
    out.push_back({{first, std::min(first + each, ranks)}, static_cast<int>(out.size())});
  return out;
}

TEST(RankRows, ShowEveryRankOnceInOrderWithinTheRoom) {
  for (const Rank ranks : {1, 2, 7, 40, 41, 1000, 10000}) {
    for (const Rank each : {1, 10, 64}) {
      for (int rows = 1; rows < 60; rows += 3) {
        for (const int halves : {1, 2}) {
          const layout::RankRows laid = layout::arrange_ranks(sockets(ranks, each), rows, halves);
          ASSERT_LE(static_cast<int>(laid.lines.size()), rows);
          Rank next = 0;
          for (const RankRange& group : laid.groups) {
            ASSERT_EQ(group.first, next);
            next = group.last;
          }
          ASSERT_EQ(next, ranks);
          int shown = -1;
          for (const layout::MapLine& line : laid.lines) shown = std::max({shown, line.top, line.bottom});
          ASSERT_EQ(shown, static_cast<int>(laid.groups.size()) - 1)
              << ranks << " ranks, " << each << " each, " << rows << " rows";
        }
      }
    }
  }
}

TEST(RankRows, PutTwoRanksIntoALineWhereTheyAreMoreThanLines) {
  const layout::RankRows rows = layout::arrange_ranks(sockets(40, 10), 24, 2);
  EXPECT_EQ(rows.ranks_per_group, 1);
  EXPECT_EQ(rows.lines.size(), 24u);  // 20 of cells, 4 labels.
  EXPECT_EQ(rows.lines[0].label_of, 0);
}

TEST(RankRows, GiveARankSeveralLinesWhereThereIsRoom) {
  const layout::RankRows rows = layout::arrange_ranks(sockets(4, 4), 20, 2);
  EXPECT_EQ(rows.lines.size(), 20u);
  EXPECT_EQ(rows.lines[0].top, rows.lines[0].bottom);
}

/// Ranks 0 to 3 on two sockets; the second one has two threads, the last one three.
timeline::Timeline timeline_with_threads() {
  timeline::Timeline timeline;
  wire::Roster roster{.world_size = 4};
  roster.domains = {{0, "socket 0"}, {1, "socket 1"}};
  for (Rank rank = 0; rank < 4; ++rank) roster.ranks.push_back({rank, 100, rank / 2});
  timeline.apply_roster("n", roster);
  const std::vector<wire::Event> begins = {{milliseconds(1), 0, wire::EventKind::kStart, wire::Phase::kNone}};
  for (Rank rank = 0; rank < 4; ++rank) timeline.append("n", {wire::LaneId::Kind::kRank, rank}, begins);
  for (const wire::ThreadId thread : {wire::ThreadId{1, 1}, {1, 2}, {3, 1}, {3, 2}, {3, 3}})
    timeline.append("n", thread, begins);
  timeline.advance("n", milliseconds(10));
  return timeline;
}

TEST(RankRows, UnfoldThreadsBelowTheirRanksWhereThereIsRoomForAll) {
  const timeline::Timeline timeline = timeline_with_threads();
  const auto rows = layout::arrange_threads(State{}, timeline, layout::shown_segments({}, timeline), 11);
  ASSERT_TRUE(rows);
  std::vector<std::string> lines;
  for (const layout::MapLine& line : rows->lines) {
    const auto thread = static_cast<std::size_t>(std::max(line.thread, 0));
    lines.push_back(line.label_of >= 0 ? "socket " + std::to_string(line.label_of)
                    : line.thread < 0  ? std::to_string(rows->groups[static_cast<std::size_t>(line.top)].first)
                                       : std::to_string(rows->threads[thread].rank) + "." +
                                            std::to_string(rows->threads[thread].thread));
  }
  EXPECT_THAT(lines, ElementsAre("socket 0", "0", "1", "1.1", "1.2", "socket 1", "2", "3", "3.1", "3.2", "3.3"));
}

TEST(RankRows, UnfoldTheThreadsOfTheRankAtTheCursorWhereThereIsRoomForThoseAlone) {
  const timeline::Timeline timeline = timeline_with_threads();
  State state;
  EXPECT_FALSE(layout::arrange_threads(state, timeline, layout::shown_segments({}, timeline), 8))
      << "that one has none";
  state.cursor_rank = 3;
  const auto rows = layout::arrange_threads(state, timeline, layout::shown_segments({}, timeline), 8);
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->threads.size(), 3u);
  EXPECT_EQ(rows->threads.front().rank, 3);
  EXPECT_LE(rows->lines.size(), 8u);
  EXPECT_FALSE(layout::arrange_threads(state, timeline, layout::shown_segments({}, timeline), 6));
}

TEST(RankRows, DropLabelsBeforeResolution) {
  const layout::RankRows rows = layout::arrange_ranks(sockets(40, 10), 21, 2);
  EXPECT_EQ(rows.ranks_per_group, 1);
  for (const layout::MapLine& line : rows.lines) EXPECT_EQ(line.label_of, -1);
}

}  // namespace
}  // namespace idlewave::view
