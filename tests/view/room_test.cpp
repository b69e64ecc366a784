// What a large screen does with its room.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>

#include "monitor/view/layout/layout.h"
#include "monitor/view/panels/panels.h"
#include "tests/any_seed.h"
#include "tests/view/looks.h"

namespace idlewave::view {
namespace {

using paint::Size;
using std::chrono::milliseconds;
using ::testing::HasSubstr, ::testing::Not;
using testing::SyntheticSession;

constexpr PanelKey kSockets = U'2', kEvents = U'3', kRanks = U'5';

layout::Layout layout_of(const Model& model, Size size, const Look& look) {
  return layout::lay_out(panels::all_panels(), {}, model, size, look);
}

std::string line_with(const std::string& shown, std::string_view words) {
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);)
    if (line.find(words) != std::string::npos) return line;
  return {};
}

TEST(Room, OfALargeScreenIsTakenByTheMapOrByWhatStandsBelowIt) {
  for (const Rank ranks : {4, 40, 400}) {
    const SyntheticSession session({.ranks = ranks, .delayed_rank = 1, .length = milliseconds(300)});
    for (const Size size : {Size{300, 80}, Size{240, 70}, Size{200, 60}}) {
      for (const Look& look : {kColour, kMonochrome}) {
        const layout::Layout layout = layout_of(session.model(), size, look);
        EXPECT_LT(layout.map.height - int(layout.rows.lines.size()), 6) << ranks << " ranks, " << size.rows << " rows";
      }
    }
  }
}

TEST(Room, BesideTheMapIsGivenToTheRanksThatAreListed) {
  const layout::Layout small = layout_of(usual_session().model(), {160, 48}, kColour);
  const layout::Layout large = layout_of(usual_session().model(), {300, 80}, kColour);
  ASSERT_TRUE(small.shows(kRanks) && large.shows(kRanks));
  EXPECT_EQ(large.region_of(kRanks), layout::Region::kBeside);
  EXPECT_GE(large.box_of(kRanks).height, 30);
  EXPECT_GT(large.beside.width, small.beside.width);
}

TEST(Room, BelowRanksThatFillTheMapIsNotTakenFromTheColumnBesideIt) {
  const SyntheticSession many({.ranks = 64, .ranks_per_socket = 32, .length = milliseconds(300)});
  const layout::Layout layout = layout_of(many.model(), {240, 70}, kColour);
  EXPECT_EQ(layout.region_of(kEvents), layout::Region::kBeside);
}

TEST(Sockets, SayFirstOfWhichMomentTheyAreToldAndOverWhatTheirMeansAre) {
  for (const Size size : {Size{160, 48}, Size{120, 40}, Size{80, 24}}) {
    const std::string shown = text(size);
    const auto moment = shown.find("at 5.0 s · mean");
    ASSERT_NE(moment, std::string::npos) << shown;
    EXPECT_LT(moment, shown.find("socket 0"));
    EXPECT_THAT(line_with(shown, "at 5.0 s · mean"), HasSubstr(" 2.00 s")) << "the length of the findings' window";
  }
}

TEST(Sockets, OfWhichThereAreHundredsKeepTheirWholeNames) {
  const SyntheticSession many({.ranks = 4000, .length = milliseconds(60), .label = "virtual socket {}"});
  const std::string shown = text({}, many.model(), {120, 40}, kMonochrome);
  EXPECT_THAT(line_with(shown, "▕"), HasSubstr("virtual socket "));
  EXPECT_THAT(shown.substr(shown.find("▕")), Not(HasSubstr("virtual so…")));
}

TEST(TimeWindow, TakesNoWiderColumnThanItNeeds) {
  std::mt19937 random(any_seed());
  for (int round = 0; round < 1000; ++round) {
    const int columns = int(random() % 398) + 3;
    const layout::SessionTime time{.step = Nanoseconds(1 + std::int64_t(random() % 3'000'000'000)),
                                   .whole = milliseconds(1 + int(random() % 20000))};
    const Nanoseconds shown = time.whole <= std::chrono::seconds(10) ? time.whole : std::chrono::seconds(5);
    const Nanoseconds column = layout::fitting_column(columns, time), step = time.step;
    ASSERT_GE(column * columns, shown) << step.count() << " " << columns;
    // The next narrower column: one step less, or the next fraction of one.
    const std::int64_t parts = std::llround(double(step.count()) / double(column.count()));
    const Nanoseconds narrower = column > step ? column - step : Nanoseconds(step.count() / (parts + 1));
    const Nanoseconds rounding(2 * columns);
    if (narrower > layout::kFinestColumn) {
      ASSERT_LT(narrower * columns, shown + rounding) << step.count() << " " << columns;
    }
    const Nanoseconds off = column >= step ? column % step : column * parts - step;
    ASSERT_LE(std::abs(off.count()), parts) << "neither steps nor a fraction of one";
  }
}

TEST(TimeWindow, OfASessionThatIsOverHasTheEndInItsLastColumn) {
  SyntheticSession session({.length = milliseconds(900)});
  const State state{.zoom = 13};
  const Look jumps{.colours = ColourDepth::kNone, .unicode = true, .cheap_scroll = false};
  session.session.link = LinkCondition::kEnded;
  const layout::TimeWindow window =
      layout::lay_out(panels::all_panels(), state, session.model(), {160, 48}, jumps).window;
  ASSERT_GT(window.first, 0);
  EXPECT_EQ(window.x_of(session.timeline.now() - Nanoseconds(1)), window.columns - 1);
}

}  // namespace
}  // namespace idlewave::view
