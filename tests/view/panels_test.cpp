// What holds for every panel of the table, and for one that joins it.

#include "monitor/view/panels/panels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "monitor/view/keys/update.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using layout::Panel;
using paint::Size;
using ::testing::HasSubstr;
using testing::SyntheticSession;

constexpr Size kSizes[] = {{20, 5}, {40, 12}, {80, 24}, {160, 48}, {300, 80}};
constexpr paint::Cell kUntouched{.glyph = U'#'};

/// Whatever a panel may scroll.
std::pair<Rank, std::map<PanelKey, int>> place(const State& state) { return {state.cursor_rank, state.scrolled}; }

State after(State state, const Key& key, Size size) {
  return keys::update(std::move(state), key, usual_session().model(), size, kColour).state;
}

TEST(Panels, HaveAKeyEachThatBringsTheFocusToThem) {
  std::set<PanelKey> keys;
  for (const Panel& panel : panels::all_panels()) {
    EXPECT_TRUE(keys.insert(panel.key).second) << panel.name;
    EXPECT_EQ(after({}, key_of(panel.key), {160, 48}).focus, panel.key) << panel.name;
  }
}

TEST(Panels, KeepTheFocusWhereItIsAndSaySoIfThereIsNoRoomForTheOneAskedFor) {
  const Size small{40, 8};
  for (const Panel& panel : panels::all_panels()) {
    if (layout::lay_out(panels::all_panels(), {}, usual_session().model(), small, kColour).shows(panel.key)) continue;
    const State state = after({}, key_of(panel.key), small);
    EXPECT_EQ(state.focus, kMapKey);
    EXPECT_THAT(state.message.text, HasSubstr(std::string(panel.name)));
  }
}

TEST(Panels, SayThatAProgramThatReportsByItselfCountsNoCalls) {
  SyntheticSession session;
  session.findings.mpi.reset();
  State state;
  state.focus = U'6';
  EXPECT_THAT(text(state, session.model(), {160, 24}, kMonochrome),
              HasSubstr("not in programs that report by themselves"));
  EXPECT_THAT(text(state, session.model(), {100, 24}, kMonochrome), HasSubstr("that reports by itself counts none"));
}

TEST(Panels, CutANoteBetweenWordsOrSayWhereItStandsWhole) {
  const SyntheticSession blind({.length = std::chrono::milliseconds(300), .source = wire::BandwidthSource::kNone});
  const std::string note = blind.findings.domains.front().note;
  int cut = 0, sent_on = 0;
  for (int columns = 60; columns <= 160; ++columns) {
    const std::string shown = text({}, blind.model(), {columns, 48}, kMonochrome);
    sent_on += shown.find("not measured, see doctor") != std::string::npos;
    const auto at = shown.find("not measured: "), end = shown.find(" …", at);
    if (at == std::string::npos || end == std::string::npos || end > shown.find('\n', at)) continue;
    const std::string begin = shown.substr(at + 14, end - at - 14);
    EXPECT_TRUE(note.starts_with(begin + " ")) << columns << ": " << begin;
    ++cut;
  }
  EXPECT_GT(cut, 0);
  EXPECT_GT(sent_on, 0);
}

TEST(Panels, SayOfMessagesHowManyWentToPlacesThatAreNotKnownInWhateverRoomThereIs) {
  SyntheticSession session;
  analysis::session::MpiUse use;
  use.matrix.all = use.matrix.unplaced = {8000, 64'000'000};
  use.matrix.pairs = {{0, 1, use.matrix.all, analysis::session::Crossing::kUnknown}};
  session.findings.mpi = std::make_shared<const analysis::session::MpiUse>(std::move(use));
  for (const int columns : {160, 120, 100, 80, 40}) {
    State state;
    state.focus = U'7';
    const std::string shown = text(state, session.model(), {columns, 24}, kMonochrome);
    const bool says_shares = shown.find("0 % to ") != std::string::npos;
    EXPECT_EQ(says_shares, shown.find(", 100 % ") != std::string::npos) << shown;
  }
}

void expect_inside_its_box(const Panel& panel, PanelKey focus, const Model& model, Size size) {
  const State state{.focus = focus};
  const layout::Layout layout = layout::lay_out(panels::all_panels(), state, model, size, kColour);
  if (!layout.shows(panel.key)) return;
  paint::Canvas canvas(size);
  canvas.fill(0, 0, size.columns, size.rows, kUntouched);
  panel.draw(canvas, layout, state, model, kColour);
  for (int y = 0; y < size.rows; ++y)
    for (int x = 0; x < size.columns; ++x)
      if (!layout.box_of(panel.key).holds(x, y)) {
        ASSERT_EQ(canvas.at(x, y), kUntouched)
            << panel.name << " at " << x << ',' << y << " of " << size.rows << " rows";
      }
}

void expect_inside_their_boxes(const Model& model, Size size) {
  for (const Panel& panel : panels::all_panels()) {
    if (panel.key == kMapKey) continue;  // Its axes and its legend stand around its box.
    for (const PanelKey focus : {kMapKey, panel.key}) expect_inside_its_box(panel, focus, model, size);
  }
}

TEST(Panels, DrawNothingOutsideTheirBox) {
  for (const Size size : kSizes) expect_inside_their_boxes(usual_session().model(), size);
}

TEST(Panels, DrawNothingOutsideTheirBoxWhereSocketsFillIt) {
  for (const Rank sockets : {1, 2, 3, 4, 6}) {
    const SyntheticSession session(
        {.ranks = 2 * sockets, .ranks_per_socket = 2, .length = std::chrono::milliseconds(300)});
    for (int rows = 5; rows <= 60; ++rows) expect_inside_their_boxes(session.model(), {80, rows});
  }
}

TEST(Panels, ShowWhichOfThemHasTheFocus) {
  for (const Panel& panel : panels::all_panels()) {
    if (panel.key == kMapKey) continue;
    const State focused = after({}, key_of(panel.key), {160, 48});
    const layout::Box box =
        layout::lay_out(panels::all_panels(), focused, usual_session().model(), {160, 48}, kColour).box_of(panel.key);
    EXPECT_EQ(screen::draw(focused, usual_session().model(), {160, 48}, kColour).at(box.x - 1, box.y).glyph, U'▸')
        << panel.name;
  }
}

TEST(Panels, ScrollAsFarAsThereIsSomething) {
  for (const Panel& panel : panels::all_panels()) {
    State top = {.focus = panel.key}, end = top;
    for (int i = 0; i < 100; ++i) {
      panel.scroll(top, usual_session().model(), -1);
      panel.scroll(end, usual_session().model(), 1);
    }
    const State at_top = top, at_end = end;
    panel.scroll(top, usual_session().model(), -1000);
    panel.scroll(end, usual_session().model(), 1000);
    EXPECT_EQ(place(top), place(at_top)) << panel.name;
    EXPECT_EQ(place(end), place(at_end)) << panel.name;
    EXPECT_NE(place(top), place(end)) << panel.name;
  }
}

TEST(Panels, ThatAreThereWithTheFocusTakeNoRoomWithoutIt) {
  for (const auto& [key, rows] : {std::pair(U'6', 6), std::pair(U'7', 7)}) {
    EXPECT_FALSE(layout::lay_out(panels::all_panels(), {}, usual_session().model(), {160, 48}, kColour).shows(key));
    const State focused = after({}, key_of(key), {80, 24});
    EXPECT_EQ(
        layout::lay_out(panels::all_panels(), focused, usual_session().model(), {80, 24}, kColour).box_of(key).height,
        rows);
    EXPECT_EQ(after(focused, key_of(KeyCode::kTab), {80, 24}).focus, kMapKey);
  }
}

TEST(Panels, SayThatNothingIsKnownOfMpiWhereNoRankHasTold) {
  SyntheticSession session;
  session.findings.mpi = nullptr;
  for (const PanelKey key : {U'6', U'7'}) {
    const paint::Canvas canvas = screen::draw({.focus = key}, session.model(), {160, 48}, kColour);
    EXPECT_THAT(paint::to_text(canvas), HasSubstr("▸no rank has told of ")) << char(key);
  }
}

TEST(Panels, LeaveTheArrowsToTheMapWhereTheScreenHasBecomeTooSmallForThem) {
  State state = after({}, key_of(KeyCode::kDown), {40, 8});
  const Rank moved = state.cursor_rank;
  ASSERT_GT(moved, 0);
  state = after({.focus = U'3'}, key_of(KeyCode::kDown), {40, 8});
  EXPECT_EQ(state.cursor_rank, moved);
}

int three_rows(const State&, const Model&, const layout::Room&) { return 3; }
void scroll_nothing(State&, const Model&, int) {}
void fill_own_box(paint::Canvas& canvas, const layout::Layout& layout, const State&, const Model&, const Look&) {
  const layout::Box box = layout.box_of(U'9');
  canvas.fill(box.x, box.y, box.width, box.height, {.glyph = U'9'});
}

Panel newcomer(layout::Region region) {
  return {.key = U'9',
          .name = "newcomer",
          .region = region,
          .region_if_wide = region,
          .takes_spare_rows = false,
          .wish = three_rows,
          .draw = fill_own_box,
          .scroll = scroll_nothing};
}

bool overlap(const layout::Box& a, const layout::Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

TEST(Panels, GetTheRoomTheyWishForWhereverTheyJoinTheOthers) {
  for (const layout::Region region : {layout::Region::kBeside, layout::Region::kUnder, layout::Region::kBottom}) {
    for (const bool first : {true, false}) {
      std::vector<Panel> all(panels::all_panels().begin(), panels::all_panels().end());
      all.insert(first ? all.begin() + 1 : all.end(), newcomer(region));
      const layout::Layout layout = layout::lay_out(all, {}, usual_session().model(), {160, 48}, kColour);
      ASSERT_TRUE(layout.shows(U'9'));
      EXPECT_EQ(layout.region_of(U'9'), region);
      EXPECT_GE(layout.box_of(U'9').height, 3);
      for (const layout::Placed& a : layout.placed) {
        EXPECT_FALSE(a.box.empty());
        for (const layout::Placed& b : layout.placed) EXPECT_TRUE(a.panel == b.panel || !overlap(a.box, b.box));
      }
    }
  }
}

}  // namespace
}  // namespace idlewave::view
