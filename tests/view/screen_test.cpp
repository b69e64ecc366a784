// What holds for every screen, whatever its size and whatever it shows.

#include "monitor/view/screen/screen.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "monitor/view/keys/bindings.h"
#include "monitor/view/keys/update.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/panels.h"
#include "tests/view/looks.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using analysis::domains::DomainState;
using paint::Size;
using std::chrono::microseconds, std::chrono::milliseconds, std::chrono::seconds;
using ::testing::AllOf, ::testing::ContainsRegex, ::testing::HasSubstr, ::testing::Not;
using testing::ProgramPlan, testing::SyntheticSession;

constexpr PanelKey kSockets = U'2', kLesson = U'4';

/// Every size that matters: all small ones, then steps.
std::vector<Size> sizes() {
  std::vector<Size> out;
  for (int columns = 1; columns <= 400; columns += columns < 24 ? 1 : columns < 90 ? 7 : 41) {
    for (int rows = 1; rows <= 120; rows += rows < 14 ? 1 : rows < 30 ? 4 : 15) out.push_back({columns, rows});
  }
  out.push_back({400, 120});
  return out;
}

std::vector<layout::Box> boxes(const layout::Layout& layout, int columns) {
  std::vector<layout::Box> out;
  if (!layout.labels.empty()) out.push_back(layout.labels);
  for (const layout::Placed& placed : layout.placed) out.push_back(placed.box);
  const int axis_end = layout.beside.empty() ? columns : layout.map.x + layout.map.width;
  if (layout.axis >= 0) out.push_back({0, layout.axis, axis_end, 1});
  for (const int row : {layout.title, layout.legend, layout.rule, layout.step, layout.keys}) {
    if (row >= 0) out.push_back({0, row, columns, 1});
  }
  return out;
}

bool overlap(const layout::Box& a, const layout::Box& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

TEST(Screen, HasNoOverlapAtAnySize) {
  for (const Size size : sizes()) {
    const auto all =
        boxes(layout::lay_out(panels::all_panels(), {}, usual_session().model(), size, kColour), size.columns);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        ASSERT_FALSE(overlap(all[i], all[j])) << size.columns << 'x' << size.rows << ": " << i << " and " << j;
    }
  }
}

TEST(Screen, StaysInsideAtAnySize) {
  for (const Size size : sizes()) {
    for (const layout::Box& box :
         boxes(layout::lay_out(panels::all_panels(), {}, usual_session().model(), size, kColour), size.columns)) {
      ASSERT_TRUE(box.x >= 0 && box.y >= 0 && box.x + box.width <= size.columns && box.y + box.height <= size.rows)
          << size.columns << 'x' << size.rows;
    }
  }
}

TEST(Screen, KeepsThreeRowsOfTheMapFrom20x5On) {
  for (const Size size : sizes()) {
    if (size.columns < 20 || size.rows < 5) continue;
    const layout::Layout layout = layout::lay_out(panels::all_panels(), {}, usual_session().model(), size, kColour);
    ASSERT_GE(layout.map.height, 3) << size.columns << 'x' << size.rows;
    ASSERT_GE(layout.rows.lines.size(), 3u) << size.columns << 'x' << size.rows;
  }
}

TEST(Screen, KeepsTheLiveCountToTheLast) {
  for (const Size size : sizes()) {
    if (size.columns < 2) continue;
    const std::string shown = text(size);
    const bool counts = shown.find("26") != std::string::npos || shown.find("10.0") != std::string::npos;
    ASSERT_TRUE(counts) << size.columns << 'x' << size.rows << '\n' << shown;
  }
}

TEST(Screen, GivesUpPartsInTheAgreedOrder) {
  const auto parts = [](const layout::Layout& l) {
    const bool all_sockets = l.shows(kSockets) && l.box_of(kSockets).height > 1;
    return std::array{l.shows(kLesson), l.step >= 0, l.keys >= 0, all_sockets, l.title >= 0};
  };
  for (int columns : {60, 80, 160}) {
    for (int rows = 5; rows <= 60; ++rows) {
      const auto shown =
          parts(layout::lay_out(panels::all_panels(), {}, usual_session().model(), {columns, rows}, kColour));
      EXPECT_TRUE(std::is_sorted(shown.begin(), shown.end())) << columns << 'x' << rows;
    }
  }
}

TEST(Screen, GivesSocketsTheSameColumnsWhateverHappens) {
  SyntheticSession session;
  const auto bars_end = [&](Size size, DomainState state) {
    for (auto& domain : session.findings.domains) domain.state = state;
    std::vector<std::size_t> ends;
    std::istringstream lines(text({}, session.model(), size, kMonochrome));
    for (std::string line; std::getline(lines, line);) ends.push_back(line.find(" of 10"));
    return ends;
  };
  EXPECT_THAT(bars_end({160, 48}, DomainState::kLockstep), ::testing::Contains(::testing::Ne(std::string::npos)));
  for (const Size size : sizes()) {
    EXPECT_EQ(bars_end(size, DomainState::kLockstep), bars_end(size, DomainState::kComputational))
        << size.columns << 'x' << size.rows;
  }
}

TEST(Screen, ShowsFiguresWithWholeUnits) {
  for (const Size size : sizes()) {
    const std::string shown = text(size);
    for (const char* cut : {"G\n", "GB/\n", "ev/\n", "ev\n", "+0.06\n"})
      ASSERT_THAT(shown, Not(HasSubstr(cut))) << size.columns << 'x' << size.rows;
  }
}

TEST(Screen, BelowTwentyByFiveIsOneLine) {
  const std::string shown = text({60, 4});
  EXPECT_THAT(shown, HasSubstr("active 10.0 5.0 6.0 5.0 of 10 each"));
  EXPECT_EQ(shown.substr(shown.find('\n')), "\n\n\n\n");
}

TEST(Screen, TellsEverythingThatIsAskedForAt80x24) {
  const std::string shown = text({80, 24});
  for (const char* word :
       {"memory-bound", "demo-4711",   "40 ranks",   "ev/s",      "0 dropped",      "rec 1.10 MB", "LIVE +0.06 s",
        "step 20.0 ms", "wait (35 %)", "compute",    "wait",      "delay",          "no data",     "socket 0",
        "socket 3",     "virtual",     "of 50 GB/s", "mean 10.0", "saturates at 5", "lockstep",    "computational wave",
        "LESSON",       "i inject",    "Fig. 4",     "q quit",    "? help",         "Enter answer"}) {
    EXPECT_THAT(shown, HasSubstr(word));
  }
}

TEST(Screen, ShowsBandwidthInTheUnitOfTheSocketsLimit) {
  const SyntheticSession session({.core_bandwidth = 9.5e6, .saturated_bandwidth = 40e6, .bytes_per_step = 80e3});
  EXPECT_THAT(text({}, session.model(), {160, 48}, kMonochrome), HasSubstr("of 40 MB/s virtual"));
  EXPECT_THAT(text({}, usual_session().model(), {160, 48}, kMonochrome), HasSubstr("of 50 GB/s virtual"));
}

TEST(Screen, SaysOfASaturationPointThatItWasMeasuredBeforehand) {
  SyntheticSession session;
  EXPECT_THAT(text({}, session.model(), {160, 48}, kMonochrome), Not(HasSubstr("calibrated")));
  session.findings.domains[0].is_calibrated = true;
  EXPECT_THAT(text({}, session.model(), {160, 48}, kMonochrome), ContainsRegex("mean .* ┊ 5 as calibrated"));
  EXPECT_THAT(text({}, session.model(), {80, 24}, kMonochrome), HasSubstr("saturates at 5"));
}

TEST(Screen, ShowsHowManyThreadsWorkAndSleepWhereRanksTell) {
  SyntheticSession hybrid;
  EXPECT_THAT(text({}, hybrid.model(), {160, 48}, kMonochrome), Not(HasSubstr("threads")));
  hybrid.findings.domains[0].threads_now = analysis::domains::ThreadUse{10, 80, 52.4, 2.5, 25.1};
  const std::string wide = text({}, hybrid.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(wide, ContainsRegex("threads +52\\.4 .* of 80, 25\\.1 sleep"));
  hybrid.findings.domains[0].threads_now = analysis::domains::ThreadUse{10, 16, 16, 0, 0};
  EXPECT_THAT(text({}, hybrid.model(), {120, 48}, kMonochrome), ContainsRegex("threads +16 .* of 16"));
  EXPECT_THAT(text({}, hybrid.model(), {100, 30}, kMonochrome), HasSubstr("state  computational wave"))
      << "where there is no room for all, threads go first";
}

TEST(Screen, ListsTheRanksThatCostOthersMost) {
  const std::string below = text({.focus = U'5'}, usual_session().model(), {120, 30}, kMonochrome);
  EXPECT_THAT(below,
              HasSubstr("       direct          far       waited   mostly for                mostly ended by\n"));
  EXPECT_THAT(below,
              HasSubstr("   5       43.8 s       2.39 s       41.4 s          0 s   -                         -\n"));
  const std::string beside = text({160, 48});
  EXPECT_THAT(beside, HasSubstr("rank costs others       waited   mostly for\n"));
  EXPECT_THAT(beside, HasSubstr("   5       43.8 s          0 s   -\n"));
}

TEST(Screen, SaysOfNoRankThatItCostsNothingWhereNoCauseIsKnown) {
  using std::chrono::milliseconds;
  SyntheticSession session;
  for (std::size_t rank = 0; rank < session.findings.causes.ranks.size(); ++rank)
    session.findings.causes.ranks.of(rank) = {.waited = milliseconds(100), .unknown = milliseconds(100)};
  EXPECT_THAT(text({.focus = U'5'}, session.model(), {120, 30}, kMonochrome),
              HasSubstr("   0            ?            ?            ?       100 ms   unknown 100 %"));
  session.findings.causes.ranks.of(3).unknown = milliseconds(99);
  EXPECT_THAT(text({.focus = U'5'}, session.model(), {120, 30}, kMonochrome),
              HasSubstr("   0          0 s          0 s          0 s       100 ms   unknown 100 %"));
}

TEST(Screen, SaysOfARankWhatEndedMostOfItsWaiting) {
  using std::chrono::milliseconds;
  SyntheticSession session;
  const auto line_of = [&](const analysis::causes::Ended& ended) {
    for (std::size_t rank = 0; rank < session.findings.causes.ranks.size(); ++rank)
      session.findings.causes.ranks.of(rank) = {
          .waited = milliseconds(100), .transfer = milliseconds(100), .ended = ended};
    return paint::to_text(screen::draw({.focus = U'5'}, session.model(), {120, 30}, kColour));
  };
  for (const auto& [ended, words] :
       {std::pair(analysis::causes::Ended{.by_message = milliseconds(80)}, "late sender 80 %"),
        {{.by_receive = milliseconds(80)}, "late receiver 80 %"},
        {{.by_either = milliseconds(80)}, "late partner 80 %"},
        {{.through = milliseconds(80)}, "others between 80 %"},
        {{.collectives = milliseconds(80)}, "last in collective 80 %"},
        {{.by_message = milliseconds(20), .messages = milliseconds(70)}, "messages 70 %"},
        {{.by_message = milliseconds(30)}, "not said 70 %"}})
    EXPECT_THAT(line_of(ended), HasSubstr(std::string("messages 100 %            ") + words + "\n"));
}

/// On a low screen it is a line, where no lesson needs the room, and a list while it has the focus.
TEST(Screen, TellsOfTheWorstRankInALineOf80x24) {
  SyntheticSession session;
  EXPECT_THAT(paint::to_text(screen::draw({}, session.model(), {80, 24}, kColour)), Not(HasSubstr("made others wait")));
  session.session.lesson.reset();
  EXPECT_THAT(paint::to_text(screen::draw({}, session.model(), {80, 24}, kColour)),
              HasSubstr("rank 5 made others wait 43.8 s: 2.39 s direct, 41.4 s through those who waited\n"));
  EXPECT_THAT(paint::to_text(screen::draw({.focus = U'5'}, session.model(), {80, 24}, kColour)),
              HasSubstr("   5       43.8 s       2.39 s       41.4 s          0 s   -\n"));
  for (std::size_t rank = 0; rank < session.findings.causes.ranks.size(); ++rank)
    session.findings.causes.ranks.of(rank) = {.waited = std::chrono::seconds(1), .unknown = std::chrono::seconds(1)};
  EXPECT_THAT(paint::to_text(screen::draw({}, session.model(), {80, 24}, kColour)),
              HasSubstr("rank 0 waited longest, 1.00 s: unknown 100 %\n"));
}

TEST(Screen, IsTheSameForTheSameArguments) {
  EXPECT_EQ(screen::draw({}, usual_session().model(), {160, 48}, kColour),
            screen::draw({}, usual_session().model(), {160, 48}, kColour));
}

TEST(Screen, UsesAsciiAloneWithoutUnicode) {
  State help;
  help.help = true;
  for (const Size size : sizes()) {
    for (const State& state : {State{}, help}) {
      for (const char c : text(state, usual_session().model(), size, kAscii))
        ASSERT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << int(c);
    }
  }
}

TEST(Screen, HasAnAsciiStandInForEveryGlyphItUses) {
  for (const char32_t glyph : std::u32string_view(U"─│┊┤▕▏█·…●▆◆×╵▴▾▸◂←→↑↓–µ≈╲╱"))
    EXPECT_NE(paint::ascii_of(glyph), paint::kUnprintable) << static_cast<unsigned>(glyph);
}

TEST(Screen, LetsNoControlCharacterOfANameThrough) {
  ProgramPlan plan{.length = milliseconds(300)};
  plan.program =
      "a\x1b[31mred\x1b]0;title\x07\n\t\x9b"
      "31m";
  plan.label = "s\x1b[2J{}\xff\xc0\xaf\xe4\xb8\xad\xcc\x81\xe2\x80\xae";  // Escape, bytes that are no UTF-8, double
                                                                          // width, combining, right-to-left.
  plan.node = "n\x1b[H";
  SyntheticSession hostile(plan);
  hostile.session.name = hostile.session.label = plan.program;
  hostile.session.link_detail = hostile.session.recording.failure = plan.program;
  hostile.session.lesson->text = hostile.session.lesson->now = plan.program;
  hostile.remarks[0].text = plan.program;
  State state;
  state.message.text = plan.program;
  for (const Size size : {Size{160, 48}, Size{80, 24}, Size{60, 20}, Size{10, 2}}) {
    const paint::Canvas canvas = screen::draw(state, hostile.model(), size, kColour);
    for (int y = 0; y < size.rows; ++y) {
      for (int x = 0; x < size.columns; ++x) ASSERT_EQ(canvas.at(x, y).glyph, paint::one_column(canvas.at(x, y).glyph));
    }
    EXPECT_THAT(paint::to_text(canvas), Not(HasSubstr("\x1b")));
  }
}

TEST(Screen, SaysWhatItWaitsForBeforeTheFirstEvent) {
  const timeline::Timeline nothing;
  const analysis::session::Findings none;
  SessionInfo session;
  session.link_detail = "start ranks with IDLEWAVE_SESSION=x";
  for (const Size size : sizes()) screen::draw({}, {nothing, none, {}, session}, size, kColour);
  const std::string shown = text({}, {nothing, none, {}, session}, {120, 30}, kMonochrome);
  EXPECT_THAT(shown,
              AllOf(HasSubstr("no event yet: start ranks"), HasSubstr("no rank yet"), Not(HasSubstr("0.0 of 0"))));
  EXPECT_GE(layout::lay_out(panels::all_panels(), {}, {nothing, none, {}, session}, {80, 24}, kColour).map.height, 12);
}

TEST(Screen, SaysOnceWhyBandwidthHasNoBetterSource) {
  const SyntheticSession declared({.ranks = 20, .length = seconds(1), .source = wire::BandwidthSource::kDeclared});
  const std::string shown = text({}, declared.model(), {160, 48}, kMonochrome);
  const std::string note = "bandwidth is declared: no access to counters";
  EXPECT_THAT(shown, HasSubstr(note));
  EXPECT_EQ(shown.find(note), shown.rfind(note));
}

TEST(Screen, SaysWhyTheLinkIsLost) {
  SyntheticSession lost({.length = milliseconds(300)});
  lost.session.link = LinkCondition::kLost;
  lost.session.link_detail = "n1 has not answered for 5 s";
  const std::string shown = text({}, lost.model(), {100, 30}, kMonochrome);
  EXPECT_THAT(shown, HasSubstr("LOST"));
  EXPECT_THAT(shown, HasSubstr("n1 has not answered for 5 s"));
}

TEST(Screen, SaysThatAReplayIsOne) {
  SyntheticSession replay({.length = milliseconds(300)});
  replay.session.replay = Replay{.position = seconds(3), .duration = seconds(14), .speed = 2};
  EXPECT_THAT(text({}, replay.model(), {100, 30}, kMonochrome), HasSubstr("REPLAY ×2.00 3.0 s of 14.0 s"));
  replay.session.replay->speed = 0.001;
  EXPECT_THAT(text({}, replay.model(), {100, 30}, kMonochrome), HasSubstr("REPLAY ×0.001 3.0 s of 14.0 s"));
  replay.session.replay->position = seconds(14);
  EXPECT_THAT(text({}, replay.model(), {100, 30}, kMonochrome),
              AllOf(HasSubstr("REPLAY ×0.001 at its end"), Not(HasSubstr("14.0 s"))));
}

TEST(Screen, SaysWhereBandwidthComesFromOrThatItIsNotMeasured) {
  const SyntheticSession newer({.ranks = 20, .length = seconds(1), .source = wire::BandwidthSource(255)});
  EXPECT_THAT(text({}, newer.model(), {160, 48}, kMonochrome), HasSubstr("GB/s unknown"));
  SyntheticSession blind({.length = milliseconds(300), .source = wire::BandwidthSource::kNone});
  EXPECT_THAT(text({}, blind.model(), {160, 48}, kMonochrome), HasSubstr("not measured: no access to counters"));
}

TEST(Screen, MarksTheSaturationPointInTheBar) {
  const std::string shown = text({160, 48});
  EXPECT_THAT(shown, HasSubstr("┊▆▆"));       // Ten of ten pass it.
  EXPECT_THAT(shown, HasSubstr("▆┊      "));  // Five of ten reach it.
}

TEST(Screen, KeepsACountForManySockets) {
  const SyntheticSession many({.ranks = 400, .length = milliseconds(200)});
  for (const Size size : sizes()) screen::draw({}, many.model(), size, kColour);
  EXPECT_THAT(text({}, many.model(), {160, 30}, kMonochrome), HasSubstr("of 400 ranks"));
}

TEST(Screen, ListsSocketsAsTheirRanksStandOnTheMap) {
  timeline::Timeline timeline;
  for (const Rank first : {4, 0, 8}) {
    wire::Roster roster{.world_size = 12};
    roster.domains.push_back({0, fmt::format("socket from {}", first), 1e10, 5e10, wire::BandwidthSource::kNone, ""});
    for (Rank rank = first; rank < first + 4; ++rank) roster.ranks.push_back({rank, 1, 0});
    ASSERT_TRUE(timeline.apply_roster(fmt::format("n{}", first), roster));
  }
  analysis::session::Findings findings;
  findings.domains = analysis::domains::domain_activity(timeline, {seconds(0), seconds(1)});
  const SessionInfo session;
  const Model model{timeline, findings, {}, session};
  for (const Size size : {Size{160, 48}, Size{160, 16}, Size{60, 20}}) {
    const std::string shown = paint::to_text(screen::draw({}, model, size, kColour));
    ASSERT_THAT(shown, HasSubstr("socket from 0"));
    EXPECT_LT(shown.find("socket from 0"), shown.find("socket from 4"));
    EXPECT_LT(shown.find("socket from 4"), shown.find("socket from 8"));
  }
}

TEST(Screen, GroupsManySocketsByStateTheLeastActiveFirst) {
  SyntheticSession many({.ranks = 400, .length = milliseconds(200)});
  auto& domains = many.findings.domains;
  ASSERT_EQ(domains.size(), 40u);
  domains[30].state = DomainState::kDisturbed;
  domains[30].active_now = 1;
  const std::string shown = text({}, many.model(), {160, 48}, kMonochrome);
  const auto disturbed = shown.find("1 socket " + to_words(DomainState::kDisturbed) + ": 1.0 of 10 active");
  const auto lockstep = shown.find("10 sockets " + to_words(DomainState::kLockstep) + ": 100.0 of 100 active");
  ASSERT_NE(disturbed, std::string::npos) << shown;
  ASSERT_NE(lockstep, std::string::npos) << shown;
  EXPECT_LT(disturbed, lockstep);
  const auto worst = shown.find("socket 30  ");
  ASSERT_NE(worst, std::string::npos) << shown;
  EXPECT_LT(worst, shown.find("socket 1  "));
}

TEST(Screen, LeavesSocketsThatLookAlikeInTheOrderOfTheirRanks) {
  SyntheticSession many({.ranks = 400, .length = milliseconds(200)});
  auto& domains = many.findings.domains;
  for (std::size_t i = 0; i < domains.size(); ++i) {
    domains[i].state = DomainState::kLockstep;
    domains[i].active_now = 9.99 - 0.001 * double(i);  // all are shown as 10.0
  }
  const std::string shown = text({}, many.model(), {160, 48}, kMonochrome);
  std::size_t before = 0;
  for (int i = 0; i < 20; ++i) {
    const auto here = shown.find(fmt::format("socket {} ", i), before);
    ASSERT_NE(here, std::string::npos) << i << '\n' << shown;
    before = here;
  }
}

TEST(Screen, ShowsTheCursorWhereverItIs) {
  State state;
  state.cursor_rank = 17;
  state.cursor_time = milliseconds(1500);
  EXPECT_THAT(text(state, usual_session().model(), {160, 48}, kMonochrome),
              HasSubstr("rank 17 · socket 1 · 1.50 s · step 51 · waits 100 %"));
}

TEST(Screen, DrawsNothingLaterThanThePause) {
  State state;
  state.paused = true;
  state.paused_at = milliseconds(900);
  const std::string shown = text(state, usual_session().model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown, HasSubstr("PAUSED at 0.9 s"));
  EXPECT_THAT(shown, Not(HasSubstr("####")));
}

TEST(Screen, DoesNotCallLiveWhatCameLongAgo) {
  SyntheticSession late({.length = milliseconds(300)});
  const auto ink_of_link = [&](Nanoseconds lag, const std::string& words) {
    late.session.lag = lag;
    const paint::Canvas canvas = screen::draw({}, late.model(), {160, 48}, kColour);
    const std::string title = paint::to_text(canvas).substr(0, paint::to_text(canvas).find('\n'));
    EXPECT_THAT(title, HasSubstr(words));
    return canvas.at(paint::columns_of(title) - 1, 0).fg;
  };
  EXPECT_EQ(ink_of_link(milliseconds(60), "LIVE +0.06 s"), paint::Ink::kGood);
  EXPECT_EQ(ink_of_link(seconds(3), "LIVE +3.00 s"), paint::Ink::kWarning);
  EXPECT_EQ(ink_of_link(seconds(33), "BEHIND 33.0 s"), paint::Ink::kError);
}

TEST(Screen, SaysWhileRanksAreDisturbedByOrder) {
  SyntheticSession session;
  const wire::Command noise{
      .id = 7,
      .ranks = {},
      .order = wire::NoiseOrder{wire::NoiseKind::kExponential, std::chrono::microseconds(500), 0}};
  session.timeline.add_command(noise, seconds(1));
  EXPECT_THAT(text({}, session.model(), {160, 48}, kMonochrome), Not(HasSubstr("noise exp")));
  session.timeline.add_outcome("n1", {.command = noise, .time = seconds(1), .accepted = true});
  std::string shown = text({}, session.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown.substr(0, shown.find('\n')), HasSubstr("noise exp"));
  EXPECT_THAT(shown, HasSubstr("began"));
  EXPECT_THAT(shown, HasSubstr("≈≈≈"));
  const wire::Command clear{.id = 8, .ranks = {}, .order = wire::ClearOrder{}};
  session.timeline.add_outcome("n1", {.command = clear, .time = seconds(3), .accepted = true});
  shown = text({}, session.model(), {160, 48}, kMonochrome);
  EXPECT_THAT(shown.substr(0, shown.find('\n')), Not(HasSubstr("noise exp")));
  EXPECT_THAT(shown, HasSubstr("is over"));
}

TEST(Screen, GivesRanksTheRowsThatThereAre) {
  const auto rows_of_a_rank = [](Size size) {
    const layout::Layout layout = layout::lay_out(panels::all_panels(), {}, usual_session().model(), size, kColour);
    int halves = 0;
    for (const layout::MapLine& line : layout.rows.lines)
      if (line.label_of < 0) halves += (line.top == 5) + (line.bottom == 5);
    return halves / 2.0;
  };
  EXPECT_EQ(rows_of_a_rank({160, 48}), 1);
  EXPECT_EQ(rows_of_a_rank({240, 70}), 1.5);
  EXPECT_GE(rows_of_a_rank({300, 100}), 2);
}

TEST(Screen, PutsNumbersToTheScaleOfWaiting) {
  EXPECT_THAT(text({160, 48}), HasSubstr("15"));
  EXPECT_THAT(text({160, 48}), HasSubstr("100 % wait"));
  EXPECT_THAT(text({80, 24}), HasSubstr("100 % wait"));
}

TEST(Screen, SaysThatASessionIsIncompleteOnceNothingMoreWillCome) {
  SyntheticSession session;
  session.findings.missing.nodes = {{.name = "n2", .heard_until = milliseconds(2300), .told = true}};
  const auto screen = [&] { return text({}, session.model(), {160, 48}, kMonochrome); };
  session.session.link = LinkCondition::kLive;
  EXPECT_THAT(screen(), Not(HasSubstr("INCOMPLETE")));
  session.session.link = LinkCondition::kEnded;
  EXPECT_THAT(screen(), HasSubstr("INCOMPLETE: node n2 not heard after 2.30 s"));
  EXPECT_THAT(screen(), Not(HasSubstr("ENDED")));
}

TEST(Screen, NamesTheRanksThatWereLostBesideTheEndOfASessionOfWhichNothingIsMissing) {
  SyntheticSession session;
  session.findings.missing = {};
  session.findings.lost_ranks = {{milliseconds(2300), 5}};
  const auto screen = [&] { return text({}, session.model(), {160, 48}, kMonochrome); };
  session.session.link = LinkCondition::kLive;
  EXPECT_THAT(screen(), Not(HasSubstr("LOST")));
  session.session.link = LinkCondition::kEnded;
  EXPECT_THAT(screen(), HasSubstr("LOST: rank 5 at 2.30 s, whose process ended without saying so"));
  EXPECT_THAT(screen(), HasSubstr("RANKS LOST"));
  EXPECT_THAT(screen(), Not(HasSubstr("ENDED")));
  session.findings.missing.nodes = {{.name = "n2", .heard_until = milliseconds(2300), .told = true}};
  EXPECT_THAT(screen(), Not(HasSubstr("RANKS LOST")));
}

TEST(Screen, SaysAtOnceThatANodeFellBehindTheOthers) {
  SyntheticSession session;
  session.findings.missing.nodes = {{.name = "n2", .heard_until = milliseconds(2300), .told = true, .behind = true},
                                    {.name = "n3", .told = true}};
  session.session.link = LinkCondition::kLive;
  EXPECT_THAT(text({}, session.model(), {160, 48}, kMonochrome), HasSubstr("INCOMPLETE: node n2 silent since 2.30 s"));
}

}  // namespace
}  // namespace idlewave::view
