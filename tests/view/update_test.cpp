// Each key.

#include "monitor/view/keys/update.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/view/keys/bindings.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/panels.h"
#include "monitor/view/screen/screen.h"
#include "tests/view/operator.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using paint::Size;
using std::chrono::milliseconds, std::chrono::seconds;
using ::testing::AllOf, ::testing::HasSubstr, ::testing::IsEmpty, ::testing::Not;
using testing::SyntheticSession;

TEST(Keys, EveryBindingThatDoesSomethingIsListedByHelp) {
  Operator op;
  op.press(U'?');
  SyntheticSession session({.length = milliseconds(50)});
  session.session.can_detach = true;
  for (const Size size : {Size{80, 24}, Size{160, 48}}) {
    const std::string help = paint::to_text(screen::draw(op.state, session.model(), size, kColour));
    for (const keys::Binding& binding : keys::bindings()) {
      EXPECT_THAT(help, HasSubstr(std::string(binding.shown) + " "));
      EXPECT_THAT(help, HasSubstr(std::string(binding.does)));
    }
    EXPECT_THAT(help, HasSubstr("your mark"));
  }
  session.session.can_detach = false;
  session.session.no_command = wire::NoCommand::kRecording;
  const std::string help = paint::to_text(screen::draw(op.state, session.model(), {80, 24}, kColour));
  for (const char* nothing : {"leave; the program", "delay the rank", "noise in all"})
    EXPECT_THAT(help, Not(HasSubstr(nothing)));
}

/// In the order in which one scrolls to them.
TEST(Keys, HelpCanBeReadOnTheSmallestScreen) {
  SyntheticSession session({.length = milliseconds(50)});
  session.session.can_detach = true;
  State state;
  state.help = true;
  EXPECT_THAT(paint::to_text(screen::draw(state, session.model(), {20, 5}, kColour)), HasSubstr("↑↓ more"));
  EXPECT_THAT(paint::to_text(screen::draw(state, session.model(), {160, 48}, kColour)), Not(HasSubstr("↑↓ more")));
  std::string read;
  for (; state.help_scroll < 200; ++state.help_scroll)
    read += paint::to_text(screen::draw(state, session.model(), {20, 5}, kColour));
  for (const keys::Binding& binding : keys::bindings()) {
    EXPECT_THAT(read, HasSubstr(" " + std::string(binding.shown) + "\n"));
    for (const std::string& line : paint::wrapped(binding.does, 17)) EXPECT_THAT(read, HasSubstr("  " + line + "\n"));
  }
}

TEST(Keys, AMessageCanBeReadOnTheSmallestScreen) {
  const SyntheticSession session({.length = milliseconds(50)});
  State state;
  state.message = {.text = "one two three four five six seven eight nine ten eleven twelve", .until = seconds(9)};
  EXPECT_THAT(paint::to_text(screen::draw(state, session.model(), {20, 5}, kColour)), HasSubstr("twelve"));
}

std::string key_line_of(const SyntheticSession& session) {
  const std::string screen = paint::to_text(screen::draw({}, session.model(), {160, 48}, kColour));
  const auto at = screen.rfind(" q quit");
  return at == std::string::npos ? "" : screen.substr(at, screen.find('\n', at) - at);
}

TEST(KeyLine, NamesNoOrderThatTheSessionNeverTakes) {
  SyntheticSession session({.length = milliseconds(100)});
  EXPECT_THAT(key_line_of(session), AllOf(HasSubstr("i inject"), HasSubstr("n noise"), HasSubstr("c clear")));
  session.session.no_command = wire::NoCommand::kNobodyThere;
  EXPECT_THAT(key_line_of(session), HasSubstr("i inject"));
  session.session.no_command = wire::NoCommand::kInjectionOff;
  EXPECT_THAT(key_line_of(session), AllOf(Not(HasSubstr("i inject")), Not(HasSubstr("n noise")), HasSubstr("c clear")));
  for (const auto reason : {wire::NoCommand::kSpectator, wire::NoCommand::kRecording, wire::NoCommand::kEnded,
                            wire::NoCommand::kNoOrders}) {
    session.session.no_command = reason;
    const std::string line = key_line_of(session);
    EXPECT_THAT(line, AllOf(HasSubstr("q quit"), HasSubstr("r record"))) << wire::to_words(reason);
    for (const char* order : {"i inject", "n noise", "c clear"}) EXPECT_THAT(line, Not(HasSubstr(order)));
  }
}

TEST(KeyLine, OffersNoRecordingOfARecording) {
  SyntheticSession session({.length = milliseconds(100)});
  session.session.replay.emplace();
  EXPECT_THAT(key_line_of(session), AllOf(HasSubstr("q quit"), Not(HasSubstr("r record"))));
}

TEST(KeyLine, OffersASpectatorNoRecordingByTheHost) {
  SyntheticSession session({.length = milliseconds(100)});
  session.session.host_records = true;
  session.session.no_command = wire::NoCommand::kSpectator;
  EXPECT_THAT(key_line_of(session), Not(HasSubstr("r record")));
  session.session.no_command = wire::NoCommand::kInjectionOff;
  EXPECT_THAT(key_line_of(session), HasSubstr("r record"));
}

TEST(Keys, EveryKeyHasOneMeaning) {
  for (const keys::Binding& binding : keys::bindings()) {
    for (const Key& key : binding.keys) EXPECT_EQ(keys::binding_of(key), &binding) << binding.shown;
  }
}

TEST(Keys, EveryKeyIsTakenInEveryState) {
  const SyntheticSession session({.length = milliseconds(500)});
  for (const keys::Binding& first : keys::bindings()) {
    for (const keys::Binding& second : keys::bindings()) {
      Operator op(session);
      op.press(first.keys.front()).press(second.keys.front());
      for (const Size size : {kSize, Size{20, 5}, Size{3, 2}}) screen::draw(op.state, session.model(), size, kColour);
    }
  }
}

TEST(Keys, WorkBeforeTheFirstEvent) {
  const timeline::Timeline nothing;
  const analysis::session::Findings none;
  SessionInfo session;
  session.no_command.reset();
  for (const keys::Binding& binding : keys::bindings())
    keys::update({}, binding.keys.front(), {nothing, none, {}, session}, kSize, kColour);
}

TEST(Keys, QQuits) { EXPECT_NE(Operator().press(U'q').last<Quit>(), nullptr); }

TEST(Keys, AnyKeyClosesHelpWithoutActing) {
  Operator op;
  op.press(U'?').press(U'q');
  EXPECT_FALSE(op.state.help);
  EXPECT_TRUE(op.effects.empty());
}

TEST(Keys, SpacePausesAndResumes) {
  Operator op;
  EXPECT_TRUE(op.press(U' ').state.paused);
  EXPECT_THAT(op.screen(), HasSubstr("PAUSED"));
  EXPECT_FALSE(op.press(U' ').state.paused);
}

TEST(Keys, SpacePausesAReplayItself) {
  SyntheticSession replay({.length = milliseconds(300)});
  replay.session.replay.emplace();
  Operator op(replay);
  op.press(U' ');
  ASSERT_NE(op.last<ReplayPause>(), nullptr);
  EXPECT_TRUE(op.last<ReplayPause>()->paused);
}

TEST(Keys, ArrowsAndLettersMoveOverRanksAndStopAtTheEnds) {
  Operator op;
  EXPECT_EQ(op.press(KeyCode::kDown).press(U'j').state.cursor_rank, 2);
  EXPECT_EQ(op.press(KeyCode::kUp).press(U'k').press(U'k').state.cursor_rank, 0);
  for (int i = 0; i < 50; ++i) op.press(U'j');
  EXPECT_EQ(op.state.cursor_rank, 39);
}

TEST(Keys, ArrowsMoveOverTimeColumnByColumnAndBackToTheNewest) {
  Operator op;
  op.press(KeyCode::kLeft).press(U'h');
  ASSERT_TRUE(op.state.cursor_time);
  const Nanoseconds column = op.layout().window.column;
  EXPECT_EQ(*op.state.cursor_time % column, Nanoseconds::zero());
  op.press(KeyCode::kRight).press(U'l').press(U'l');
  EXPECT_FALSE(op.state.cursor_time);
}

TEST(Keys, LeavingTheWindowScrollsItAndEndsFollowing) {
  Operator op;
  op.state.zoom = 10;  // About a millisecond a column: most of the session lies before the window.
  for (int i = 0; i < op.layout().window.columns + 3; ++i) op.press(U'h');
  EXPECT_FALSE(op.state.follow);
  EXPECT_TRUE(op.layout().window.shows(*op.state.cursor_time));
  EXPECT_TRUE(op.press(KeyCode::kEnd).state.follow);
}

TEST(Keys, PlusAndMinusZoomInTimeByTwo) {
  Operator op;
  const Nanoseconds before = op.press(U'+').layout().window.column;
  EXPECT_EQ(op.press(U'+').layout().window.column * 2, before);
  EXPECT_EQ(op.press(U'-').press(U'-').layout().window.column, before * 2);
}

TEST(Keys, PlusAndMinusZoomFromWhatFits) {
  for (const char32_t key : {U'+', U'-'}) {
    Operator op;
    const double before = double(op.layout().window.column.count());
    const double ratio = double(op.press(key).layout().window.column.count()) / before;
    EXPECT_GT(key == U'-' ? ratio : 1 / ratio, 1);
    EXPECT_LE(key == U'-' ? ratio : 1 / ratio, 4);
  }
}

TEST(Keys, ZoomKeepsTheCursorInSight) {
  Operator op;
  op.press(U'w');
  for (int i = 0; i < 12; ++i)
    EXPECT_TRUE(op.press(U'+').layout().window.shows(*op.state.cursor_time) || op.state.follow);
}

TEST(Keys, BracketsZoomInRanksAroundTheCursor) {
  Operator op;
  op.state.cursor_rank = 30;
  EXPECT_EQ(op.press(U']').state.ranks_shown, 20);
  EXPECT_GE(30, op.state.first_rank);
  EXPECT_LT(30, op.state.first_rank + op.state.ranks_shown);
  EXPECT_EQ(op.press(U'[').state.ranks_shown, 0);
}

TEST(Keys, MovingOutOfAZoomScrollsIt) {
  Operator op;
  op.press(U']').press(U']');
  for (int i = 0; i < 25; ++i) op.press(U'j');
  const auto& groups = op.layout().rows.groups;
  EXPECT_LE(groups.front().first, 25);
  EXPECT_GT(groups.back().last, 25);
}

TEST(Keys, AChangesTheAxisAndStaysWhereItWas) {
  Operator op;
  op.state.zoom = 14;
  op.press(U'h').press(KeyCode::kHome);
  ASSERT_FALSE(op.state.follow);
  const Nanoseconds from = op.layout().window.from();
  op.press(U'a');
  ASSERT_TRUE(op.layout().steps);
  EXPECT_THAT(op.screen(), HasSubstr("step 0 "));
  op.press(U'a');
  EXPECT_FALSE(op.layout().steps);
  EXPECT_NEAR(static_cast<double>(op.layout().window.from().count()), static_cast<double>(from.count()), 50e6);
}

TEST(Keys, ArrowsMoveStepByStepWhereColumnsAreSteps) {
  Operator op;
  op.state.cursor_rank = 12;
  op.press(U'a').press(U'h').press(U'h');
  ASSERT_TRUE(op.state.cursor_time);
  const auto there = layout::record_at(*op.lane(12), *op.state.cursor_time);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->begin, *op.state.cursor_time);
  op.press(U'h');
  EXPECT_EQ(layout::record_at(*op.lane(12), *op.state.cursor_time)->step, there->step - 1);
  for (int i = 0; i < 100; ++i) op.press(U'h');
  EXPECT_FALSE(op.state.follow);
  EXPECT_TRUE(op.layout().steps->shows(layout::record_at(*op.lane(12), *op.state.cursor_time)->step));
  EXPECT_EQ(op.press(U'-').layout().steps->per_column, 2);
  EXPECT_EQ(op.press(U'+').press(U'+').layout().steps->per_column, 1);
}

TEST(Keys, TheCursorOnAStepNamesTheMomentThatPanelsTellOf) {
  Operator op;
  op.press(U'a').press(U'h').press(U'h').press(U'h');
  ASSERT_TRUE(op.state.cursor_time);
  const auto step = layout::record_at(*op.lane(0), *op.state.cursor_time);
  ASSERT_TRUE(step);
  EXPECT_THAT(op.screen(), HasSubstr("until " + paint::to_moment(step->end, op.layout().window.column)));
}

TEST(Keys, DInAReplaySaysThatNothingCouldGoOn) {
  SyntheticSession replay({.length = milliseconds(300)});
  replay.session.replay.emplace();
  Operator op(replay);
  EXPECT_THAT(op.press(U'd').screen(), HasSubstr("a replay has no program that could go on: q quits"));
  EXPECT_THAT(op.effects, IsEmpty());
}

TEST(Keys, WGoesFromWaveToWaveAndSaysHowItRan) {
  SyntheticSession session;
  analysis::waves::Wave second = session.findings.waves[0];
  second.origin_rank = 20;
  second.start = seconds(3);
  session.findings.waves.push_back(second);
  Operator op(session);
  EXPECT_EQ(op.press(U'w').state.cursor_rank, 20);
  EXPECT_THAT(op.screen(), HasSubstr("wave 2 of 2: rank 20, step 40: up 0 ranks, 1.00 ranks/step"));
  EXPECT_EQ(op.press(U'w').state.cursor_rank, 5);
  EXPECT_EQ(op.press(U'w').state.cursor_rank, 20);
}

TEST(Keys, WGoesToTheNextDelayAndRoundAgain) {
  Operator op;
  op.press(U'w');
  EXPECT_EQ(op.state.cursor_rank, 5);
  ASSERT_TRUE(op.state.cursor_time);
  EXPECT_LE(*op.state.cursor_time, milliseconds(800));
  EXPECT_GT(*op.state.cursor_time + op.layout().window.column, milliseconds(800));
  EXPECT_EQ(op.press(U'w').state.cursor_rank, 5);
}

TEST(Keys, WGoesToARankThatWasLateWithoutADelayToo) {
  const SyntheticSession watched;
  const Model model = watched.model();
  analysis::session::Findings findings = model.findings;
  findings.waves.push_back(
      {.origin_rank = 12, .cause = analysis::waves::WaveCause::kLateCompute, .start = model.timeline.now() / 2});
  const keys::Update next =
      keys::update({}, key_of(U'w'), {model.timeline, findings, {}, model.session}, kSize, kColour);
  EXPECT_EQ(next.state.cursor_rank, 12);
  ASSERT_TRUE(next.state.cursor_time);
  EXPECT_LE(*next.state.cursor_time, model.timeline.now() / 2);
}

TEST(Keys, TabGoesRoundThePanelsThatAreShown) {
  Operator op;
  EXPECT_EQ(op.press(KeyCode::kTab).state.focus, U'2');
  EXPECT_EQ(op.press(KeyCode::kTab).state.focus, U'3');
  EXPECT_EQ(op.press(KeyCode::kTab).state.focus, U'5');
  EXPECT_EQ(op.press(KeyCode::kTab).state.focus, U'4');
  EXPECT_EQ(op.press(KeyCode::kTab).state.focus, kMapKey);
  EXPECT_EQ(op.press(KeyCode::kBackTab).state.focus, U'4');
}

TEST(Keys, EnterAnswersWhatTheLessonAsks) {
  Operator op;
  op.press(KeyCode::kEnter).type(U"8").press(KeyCode::kEnter);
  ASSERT_EQ(op.effects.size(), 1u);
  EXPECT_EQ(std::get<AnswerLesson>(op.effects[0]).text, "8");
  EXPECT_TRUE(op.state.form) << "it stays until the answer has been taken";
}

TEST(Keys, EnterAndBackspaceTurnThePagesOfALessonThatAsksNothing) {
  SyntheticSession taught;
  taught.session.lesson->expected = "";
  Operator op(taught);
  op.press(KeyCode::kEnter);
  ASSERT_EQ(op.effects.size(), 1u);
  EXPECT_EQ(std::get<TurnLesson>(op.effects[0]).pages, 1);
  op.press(KeyCode::kBackspace);
  EXPECT_EQ(op.effects.size(), 1u) << "the first page has none before it";
  EXPECT_THAT(op.screen(), HasSubstr("this is the first page"));
  taught.session.lesson->has_previous = true;
  op.press(KeyCode::kBackspace);
  EXPECT_EQ(std::get<TurnLesson>(op.effects.back()).pages, -1);
}

TEST(Keys, TurnNoPagesOfALessonThatSomebodyElseGives) {
  SyntheticSession taught;
  taught.session.lesson = Lesson{.title = "a pause", .page = 2, .pages = 3, .text = "Look at rank 5.", .led = true};
  Operator op(taught);
  EXPECT_THAT(op.screen(), AllOf(HasSubstr("LESSON 2 of 3"), Not(HasSubstr("Enter"))));
  for (const KeyCode key : {KeyCode::kEnter, KeyCode::kBackspace}) {
    op.press(key);
    EXPECT_THAT(op.screen(), HasSubstr("whoever gives the lesson turns its pages"));
  }
  EXPECT_THAT(op.effects, IsEmpty());
}

TEST(Keys, HoldTheRankThatThePageWaitsFor) {
  SyntheticSession taught;
  taught.session.lesson->rank = 7;
  Operator op(taught);
  op.state.cursor_rank = 2;
  op.press(U'i');
  EXPECT_THAT(op.screen(), HasSubstr("inject into rank 7"));
}

TEST(Keys, ThatHoldRanksWaitForTheAnswerOfALesson) {
  SyntheticSession taught;
  taught.session.lesson->locked = "the lesson asks something first";
  Operator op(taught);
  for (const char32_t key : {U'i', U'n'}) {
    op.press(key);
    EXPECT_FALSE(op.state.form);
    EXPECT_THAT(op.screen(), HasSubstr("the lesson asks something first"));
  }
}

TEST(Keys, ThatHoldRanksWarnOnceOfAPremiseThatDoesNotHold) {
  SyntheticSession taught;
  taught.session.lesson->premise = "Socket 2 is not in lockstep.";
  Operator op(taught);
  op.press(U'i');
  EXPECT_FALSE(op.state.form);
  EXPECT_THAT(op.screen(), HasSubstr("Socket 2 is not in lockstep. The same key again goes on all the same."));
  op.press(U'i');
  EXPECT_TRUE(op.state.form);
}

TEST(Keys, OthersThanThoseOfThePageCloseItAndDoWhatTheyDo) {
  Operator op;
  op.press(U'L');
  EXPECT_TRUE(op.state.lesson_open);
  op.press(KeyCode::kDown);
  EXPECT_TRUE(op.state.lesson_open);
  op.press(U'i');
  EXPECT_FALSE(op.state.lesson_open);
  EXPECT_TRUE(op.state.form);
  op.press(KeyCode::kEscape).press(U'L').press(KeyCode::kEscape);
  EXPECT_FALSE(op.state.lesson_open);
}

TEST(Keys, MMarksThePlaceOfTheCursor) {
  Operator op;
  op.state.cursor_time = seconds(2);
  op.press(U'm');
  ASSERT_EQ(op.state.marks.size(), 1u);
  EXPECT_EQ(op.state.marks[0].at, seconds(2));
}

TEST(Keys, RStopsARecordingThatIsOnAndStartsOneThatIsNot) {
  EXPECT_NE(Operator().press(U'r').last<StopRecording>(), nullptr);
  SyntheticSession idle({.length = milliseconds(100)});
  idle.session.recording.on = false;
  EXPECT_NE(Operator(idle).press(U'r').last<StartRecording>(), nullptr);
}

TEST(Keys, SSavesTheScreen) { EXPECT_NE(Operator().press(U's').last<SaveScreen>(), nullptr); }

TEST(Keys, CClears) {
  Operator op;
  op.press(U'c');
  ASSERT_NE(op.last<SendCommand>(), nullptr);
  EXPECT_TRUE(std::holds_alternative<wire::ClearOrder>(op.last<SendCommand>()->command.order));
}

TEST(Keys, AClickMovesTheCursorToWhatWasSeenThere) {
  Operator op;
  const layout::Layout layout = op.layout();
  const auto line = layout.rows.lines.size() - 1;
  const Rank rank = layout.rows.groups[static_cast<std::size_t>(layout.rows.lines[line].top)].first;
  op.press({.code = KeyCode::kMousePress, .x = layout.map.x + 10, .y = layout.map.y + static_cast<int>(line)});
  EXPECT_EQ(op.state.cursor_rank, rank);
  EXPECT_EQ(op.state.cursor_time, layout.window.begin_of(10));
}

TEST(Keys, AClickOutsideTheMapChangesNothing) {
  Operator op;
  op.press({.code = KeyCode::kMousePress, .x = 159, .y = 47});
  EXPECT_EQ(op.state.cursor_rank, 0);
}

TEST(Keys, TheWheelZooms) {
  Operator op;
  const Nanoseconds before = op.layout().window.column;
  EXPECT_LT(op.press(KeyCode::kWheelUp).layout().window.column, before);
}

TEST(Keys, UnknownOnesChangeNothing) {
  Operator op;
  op.press(U'Z').press(KeyCode::kDelete).press({.character = U'q', .control = true});
  EXPECT_TRUE(op.effects.empty());
}

}  // namespace
}  // namespace idlewave::view
