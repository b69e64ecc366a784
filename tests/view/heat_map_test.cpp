#include "monitor/view/map/heat_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/view/layout/layout.h"
#include "monitor/view/panels/panels.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using paint::Ink;
using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::seconds;
using ::testing::ContainsRegex, ::testing::HasSubstr, ::testing::Not;
using testing::SyntheticSession;

timeline::Shares shares(float compute, float wait, float delay = 0, float other = 0) {
  timeline::Shares out;
  out.of = {compute, wait, delay, other};
  return out;
}

TEST(Cell, RisesWithTheShareOfWaiting) {
  Ink before = map::ink_of(shares(1, 0), 1);
  EXPECT_EQ(before, Ink::kCompute);
  for (float wait = 0.05f; wait <= 1; wait += 0.05f) {
    const Ink now = map::ink_of(shares(1 - wait, wait), 1);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(before, Ink::kWait7);
}

TEST(Cell, TellsWhatIsNotKnownFromWhatIsIdle) {
  EXPECT_EQ(map::ink_of(shares(0, 0), 1), Ink::kNoData);
  EXPECT_EQ(map::ink_of(shares(0, 1), 1), Ink::kWait7);
  EXPECT_EQ(map::ink_of(shares(0, 0.2f), 1), Ink::kNoData);
}

TEST(Cell, OfTheNewestColumnIsJudgedByWhatIsPastOfIt) { EXPECT_EQ(map::ink_of(shares(0, 0.2f), 0.2f), Ink::kWait7); }

TEST(Cell, ShowsADelayThatFillsAnEighth) { EXPECT_EQ(map::ink_of(shares(0.8f, 0, 0.2f), 1), Ink::kDelay); }

TEST(HeatMap, NeverAveragesADelayAway) {
  const SyntheticSession session({.ranks = 400, .delay = milliseconds(30), .length = seconds(2)});
  State coarse;
  coarse.zoom = 21;  // One column holds the whole session.
  const std::string shown = text(coarse, session.model(), {80, 12}, kMonochrome);
  EXPECT_THAT(shown, ::testing::AnyOf(HasSubstr("D"), HasSubstr("◆")));
}

TEST(HeatMap, TellsComputeWaitDelayAndFutureApartWithoutColour) {
  const paint::Canvas canvas = screen::draw({}, usual_session().model(), {160, 48}, kMonochrome);
  const layout::Layout layout =
      layout::lay_out(panels::all_panels(), {}, usual_session().model(), {160, 48}, kMonochrome);
  std::set<Ink> inks;
  for (int y = layout.map.y; y < layout.map.y + layout.map.height; ++y) {
    for (int x = layout.map.x; x < layout.map.x + layout.map.width; ++x) inks.insert(canvas.at(x, y).fg);
  }
  for (const Ink ink : {Ink::kCompute, Ink::kWait7, Ink::kDelay, Ink::kDefault}) EXPECT_TRUE(inks.contains(ink));
  EXPECT_NE(map::glyph_of(Ink::kCompute), map::glyph_of(Ink::kWait7));
  EXPECT_EQ(map::glyph_of(Ink::kDelay), U'D');
  EXPECT_EQ(map::glyph_of(Ink::kNoData), U'?');
}

TEST(HeatMap, ShowsALostRankUnlikeOneThatEnded) {
  SyntheticSession session({.ranks = 4, .ranks_per_socket = 4, .length = seconds(1)});
  const auto end = [&](Rank rank, wire::EventKind kind) {
    const wire::Event event{.time = seconds(1), .kind = kind, .phase = wire::Phase::kNone};
    session.timeline.append("n1", {wire::LaneId::Kind::kRank, rank}, {&event, 1});
  };
  end(0, wire::EventKind::kStop);
  end(1, wire::EventKind::kLost);
  session.timeline.advance("n1", seconds(4));
  const paint::Canvas canvas = screen::draw({}, session.model(), {100, 30}, kMonochrome);
  const layout::Layout layout = layout::lay_out(panels::all_panels(), {}, session.model(), {100, 30}, kMonochrome);
  const int lines = static_cast<int>(layout.rows.lines.size()) / 4;
  const int x = layout.map.x + static_cast<int>(layout.window.x_of(seconds(3)));
  EXPECT_EQ(canvas.at(x, layout.map.y).fg, Ink::kDefault);
  EXPECT_EQ(canvas.at(x, layout.map.y + lines).fg, Ink::kNoData);
  EXPECT_THAT(paint::to_text(canvas), HasSubstr("×"));
}

TEST(HeatMap, ShowsTheSameColumnForTheSameSlotWhileItScrolls) {
  State early, late;
  early.paused = late.paused = true;
  early.zoom = late.zoom = 14;
  early.paused_at = milliseconds(3600);
  late.paused_at = milliseconds(4400);
  const paint::Size size{160, 48};
  const layout::Layout before = layout::lay_out(panels::all_panels(), early, usual_session().model(), size, kColour),
                       after = layout::lay_out(panels::all_panels(), late, usual_session().model(), size, kColour);
  const paint::Canvas first = screen::draw(early, usual_session().model(), size, kColour),
                      second = screen::draw(late, usual_session().model(), size, kColour);
  const auto shift = static_cast<int>(after.window.first - before.window.first);
  ASSERT_GT(shift, 0);
  for (int y = before.map.y; y < before.map.y + before.map.height; ++y) {
    if (before.rows.lines.size() <= static_cast<std::size_t>(y - before.map.y) ||
        before.rows.lines[static_cast<std::size_t>(y - before.map.y)].label_of >= 0)
      continue;
    // In the last columns a step goes on, of which it is told later how much of it was waiting.
    for (int x = before.map.x + shift; x < before.map.x + before.map.width - 3; ++x)
      ASSERT_EQ(first.at(x, y), second.at(x - shift, y)) << x << ',' << y;
  }
}

/// The map's cell of a rank in a step, while its columns are steps.
Ink ink_in_step(const Model& model, State state, Rank rank, wire::Step step) {
  state.by_steps = true;
  const paint::Size size{160, 48};
  const layout::Layout layout = layout::lay_out(panels::all_panels(), state, model, size, kColour);
  const int group = map::group_of(layout.rows, rank);
  for (std::size_t i = 0; i < layout.rows.lines.size(); ++i) {
    if (layout.rows.lines[i].top != group || layout.rows.lines[i].bottom != group) continue;
    return screen::draw(state, model, size, kColour)
        .at(layout.map.x + static_cast<int>(layout.steps->x_of(step)), layout.map.y + static_cast<int>(i))
        .bg;
  }
  return Ink::kDefault;
}

TEST(HeatMap, DrawsAWaveAsAStraightLineWhereColumnsAreSteps) {
  const State state{.follow = false, .first_step = 30};
  const auto ink = [&](Rank rank, wire::Step step) { return ink_in_step(usual_session().model(), state, rank, step); };
  for (Rank distance = 2; distance < 15; ++distance) {
    EXPECT_EQ(ink(5 + distance, 40 + distance - 1), Ink::kWait7) << distance;
    EXPECT_LT(ink(5 + distance, 40 + distance - 4), Ink::kWait6) << distance;
  }
  EXPECT_EQ(ink(5, 35), Ink::kCompute);
  EXPECT_EQ(ink(5, 100), Ink::kCompute);  // Its socket is in lockstep again.
}

TEST(HeatMap, SaysSoWhereItShowsASampleOfVeryManyRanks) {
  const auto legend = [state = State{.by_steps = true}](const SyntheticSession& session) {
    std::istringstream lines(text(state, session.model(), {160, 48}, kColour));
    std::string line;
    while (std::getline(lines, line) && line.find("no data") == std::string::npos) continue;
    return line;
  };
  const SyntheticSession large({.ranks = 2000, .length = seconds(1)});
  EXPECT_THAT(legend(large), ::testing::ContainsRegex("1 of [0-9]+ ranks"));
  EXPECT_THAT(legend(usual_session()), Not(HasSubstr("1 of ")));
}

TEST(HeatMap, ShowsNoStepThatHasNotBegun) {
  State state{.follow = false, .first_step = 120};
  EXPECT_EQ(ink_in_step(usual_session().model(), state, 5, 210), Ink::kDefault);
  state.paused = true;
  state.paused_at = seconds(4);
  EXPECT_EQ(ink_in_step(usual_session().model(), state, 5, 180), Ink::kDefault);
  EXPECT_NE(ink_in_step(usual_session().model(), state, 5, 120), Ink::kDefault);
}

TEST(HeatMap, DrawsTheFrontOfAWaveAndSaysHowFarAndHowFastItRan) {
  SyntheticSession session;
  analysis::waves::WaveDirection& up = session.findings.waves[0].up;
  up.front.clear();
  for (int i = 1; i <= 10; ++i)
    up.front.push_back({.rank = 5 + i, .step = 40 + i, .position = i, .arrival = milliseconds(800 + 20 * i)});
  up.reach_ranks = 10;
  const std::string shown = text({}, session.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown, HasSubstr("╲"));
  EXPECT_THAT(shown, HasSubstr("10 ranks, 1.00 ranks/step"));
}

TEST(HeatMap, TellsNoSpeedOfAFrontThatCameToAllInOneStep) {
  SyntheticSession session;
  analysis::waves::WaveDirection& up = session.findings.waves[0].up;
  up.front.clear();
  for (int i = 1; i <= 10; ++i)
    up.front.push_back({.rank = 5 + i, .step = 41, .position = i, .arrival = milliseconds(820) + microseconds(i)});
  up.reach_ranks = 10;
  up.leading.ranks_per_s = {1e6, 3e7};
  const std::string shown = text({}, session.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown, HasSubstr("10 ranks in one step"));
  EXPECT_THAT(shown, Not(HasSubstr("10 ranks in one step,")));
}

TEST(Cell, StaysCalmAtATenthOfWaiting) { EXPECT_EQ(map::ink_of(shares(0.89f, 0.11f), 1), Ink::kCompute); }

TEST(Cell, ChangesItsShadeWhereTheScaleSaysSo) {
  for (int shade = 1; shade < 8; ++shade) {
    const float from = map::wait_from(shade);
    EXPECT_EQ(static_cast<int>(map::ink_of(shares(1 - from - 0.01f, from + 0.01f), 1)) - static_cast<int>(Ink::kWait0),
              shade);
    EXPECT_EQ(static_cast<int>(map::ink_of(shares(1 - from + 0.01f, from - 0.01f), 1)) - static_cast<int>(Ink::kWait0),
              shade - 1);
  }
}

}  // namespace
}  // namespace idlewave::view
