// Each form.

#include "monitor/view/keys/forms.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "monitor/view/keys/update.h"
#include "probe/words/noise.h"
#include "tests/view/operator.h"
#include "tests/view/synthetic_session.h"

namespace idlewave::view {
namespace {

using std::chrono::milliseconds, std::chrono::seconds;
using ::testing::AllOf, ::testing::HasSubstr, ::testing::Not;
using testing::SyntheticSession;

TEST(InjectForm, SaysInFullWhatIsAccepted) {
  const SyntheticSession session;
  State state;
  state.form = Form{.kind = FormKind::kInject};
  for (int word = 0; word < 20; ++word) state.form->complaint += fmt::format("word{} ", word);
  EXPECT_THAT(paint::to_text(screen::draw(state, session.model(), {80, 24}, kColour)),
              AllOf(HasSubstr("word0"), HasSubstr("word19")));
}

TEST(InjectForm, ProposesTenStepsAndPredictsTheReach) {
  Operator op;
  op.state.cursor_rank = 5;
  op.press(U'i');
  EXPECT_THAT(op.screen(), HasSubstr("inject into rank 5: 200 ms_"));
  EXPECT_THAT(op.screen(), HasSubstr("1 rank a step; ranks are out of step, its end is open"));
}

TEST(InjectForm, ProposesTheDelayOfTheLesson) {
  SyntheticSession taught;
  taught.session.lesson = Lesson{.title = "a pause", .delay = seconds(2)};
  Operator op(taught);
  op.press(U'i');
  ASSERT_TRUE(op.state.form.has_value());
  EXPECT_EQ(op.state.form->text, "2 s");
}

TEST(InjectForm, ReadsWhatItProposesAlsoBeyondTwoMinutes) {
  SyntheticSession taught;
  taught.session.lesson = Lesson{.title = "a long pause", .delay = seconds(150)};
  Operator op(taught);
  op.press(U'i').press(KeyCode::kEnter);
  EXPECT_THAT(op.screen(), HasSubstr("inject 2 min 30 s into rank 0? y/n"));
}

TEST(InjectForm, SendsOnlyAfterTheConfirmingLine) {
  Operator op;
  op.state.cursor_rank = 5;
  op.press(U'i').type(U"250ms").press(KeyCode::kEnter);
  EXPECT_TRUE(op.effects.empty());
  EXPECT_THAT(op.screen(), HasSubstr("inject 250 ms into rank 5? y/n"));
  op.press(U'y');
  ASSERT_NE(op.last<SendCommand>(), nullptr);
  const wire::Command& command = op.last<SendCommand>()->command;
  EXPECT_EQ(command.id, 0u);
  EXPECT_EQ(command.ranks, std::vector<Rank>{5});
  EXPECT_EQ(std::get<wire::DelayOrder>(command.order).duration, milliseconds(250));
  EXPECT_FALSE(op.state.form);
}

TEST(InjectForm, ConfirmsByEnterToo) {
  EXPECT_NE(Operator().press(U'i').press(KeyCode::kEnter).press(KeyCode::kEnter).last<SendCommand>(), nullptr);
}

TEST(Inject, SaysThatItWasSentForAWhile) {
  const SyntheticSession then({.length = seconds(4)}), later({.length = seconds(8)});
  Operator op(then);
  op.press(U'i').press(KeyCode::kEnter).press(U'y');
  EXPECT_THAT(op.screen(), HasSubstr("sent; it is on the map"));
  EXPECT_THAT(paint::to_text(screen::draw(op.state, later.model(), kSize, kColour)), Not(HasSubstr("sent;")));
}

TEST(InjectForm, SendsNothingAfterEscapeOrNo) {
  for (const Key& refusal : {key_of(KeyCode::kEscape), key_of(U'n')}) {
    Operator op;
    op.press(U'i').press(KeyCode::kEnter).press(refusal);
    EXPECT_TRUE(op.effects.empty());
    EXPECT_FALSE(op.state.form);
  }
}

TEST(InjectForm, StaysOpenAfterWrongInputAndSaysWhatIsAccepted) {
  Operator op;
  op.press(U'i').type(U"250").press(KeyCode::kEnter);
  ASSERT_TRUE(op.state.form);
  EXPECT_EQ(op.state.form->text, "250");
  EXPECT_THAT(op.screen(), HasSubstr("has no unit (ns, us, ms, s, min, h); write a duration such as 250ms"));
}

TEST(InjectForm, ReplacesItsProposalByTheFirstCharacterButEditsItAfterBackspace) {
  Operator op;
  EXPECT_EQ(op.press(U'i').press(U'7').state.form->text, "7");
  op.press(KeyCode::kEscape).press(U'i').press(KeyCode::kBackspace);
  EXPECT_EQ(op.state.form->text, "200 m");
}

TEST(InjectForm, TakesKeysThatMeanSomethingElseOutside) {
  EXPECT_TRUE(Operator().press(U'i').press(U'q').effects.empty());
}

TEST(InjectForm, IsRefusedWhereNothingCanBeSent) {
  SyntheticSession spectator({.length = milliseconds(100)});
  spectator.session.no_command = wire::NoCommand::kSpectator;
  Operator op(spectator);
  op.press(U'i');
  EXPECT_FALSE(op.state.form);
  EXPECT_THAT(op.screen(), HasSubstr("a spectator can't change the session"));
}

TEST(InjectForm, IsRefusedBeforeAnythingIsTypedWhereInjectionIsOffButRanksCanBeLetGo) {
  SyntheticSession guarded({.length = milliseconds(100)});
  guarded.session.no_command = wire::NoCommand::kInjectionOff;
  Operator op(guarded);
  EXPECT_FALSE(op.press(U'i').state.form);
  EXPECT_THAT(op.screen(), HasSubstr("--allow-inject"));
  EXPECT_FALSE(op.press(U'n').state.form);
  ASSERT_NE(op.press(U'c').last<SendCommand>(), nullptr);
}

TEST(InjectForm, FitsIntoASmallScreen) {
  const SyntheticSession session({.length = milliseconds(500)});
  Operator op(session);
  op.press(U'i').type(U"250ms").press(KeyCode::kEnter);
  EXPECT_THAT(paint::to_text(screen::draw(op.state, session.model(), {20, 5}, kColour)), HasSubstr("rank 0? y/n"));
}

TEST(NoiseForm, SendsNoiseToAllRanks) {
  Operator op;
  op.press(U'n').type(U"periodic:2.5ms@10Hz").press(KeyCode::kEnter);
  EXPECT_THAT(op.screen(), HasSubstr("noise periodic:2.5ms@10Hz into all 40 ranks, until c or you leave? y/n"));
  op.press(KeyCode::kEnter);
  ASSERT_NE(op.last<SendCommand>(), nullptr);
  EXPECT_TRUE(op.last<SendCommand>()->command.ranks.empty());
  const auto& noise = std::get<wire::NoiseOrder>(op.last<SendCommand>()->command.order);
  EXPECT_EQ(noise, (wire::NoiseOrder{wire::NoiseKind::kPeriodic, std::chrono::microseconds(2500), 10, true}))
      << "nobody is left to end it when its giver has gone";
}

TEST(NoiseForm, ShowsWhichKeysAnswerHoweverLongItIs) {
  const SyntheticSession session;
  Operator op;
  op.press(U'n').type(U"trace:/some/where/noise-of-a-node.txt").press(KeyCode::kEnter);
  using std::chrono::milliseconds;
  keys::take_noise(op.state,
                   words::order_of_trace("/some/where/noise-of-a-node.txt",
                                         {{milliseconds(3), milliseconds(2)}, {milliseconds(8), milliseconds(0)}}));
  EXPECT_THAT(paint::to_text(screen::draw(op.state, session.model(), {20, 5}, kColour)), HasSubstr("leave? y/n"));
}

TEST(NoiseForm, HasATraceReadBeforeItAsks) {
  Operator op;
  op.press(U'n').type(U"trace:/some/where/noise.txt").press(KeyCode::kEnter);
  ASSERT_NE(op.last<ReadNoise>(), nullptr);
  EXPECT_EQ(op.last<ReadNoise>()->text, "trace:/some/where/noise.txt");
  ASSERT_TRUE(op.state.form) << "until it has been read";
  keys::take_noise(op.state, wire::Error{"/some/where/noise.txt: is not a regular file"});
  EXPECT_THAT(op.screen(), HasSubstr("is not a regular file"));
  using std::chrono::milliseconds;
  keys::take_noise(op.state, words::order_of_trace("/some/where/noise.txt", {{milliseconds(3), milliseconds(2)},
                                                                             {milliseconds(8), milliseconds(0)}}));
  EXPECT_THAT(op.screen(), HasSubstr("noise trace:noise.txt (2 detours, 25 % of 8 ms) into all 40 ranks"));
  op.press(U'y');
  ASSERT_NE(op.last<SendCommand>(), nullptr);
  const auto& noise = std::get<wire::NoiseOrder>(op.last<SendCommand>()->command.order);
  EXPECT_EQ(noise.trace.detours.size(), 2u);
  EXPECT_TRUE(noise.ends_with_giver);
}

TEST(GotoForm, GoesToATime) {
  Operator op;
  op.state.zoom = 10;
  op.press(U'g').type(U"1.2 s").press(KeyCode::kEnter);
  EXPECT_FALSE(op.state.form);
  EXPECT_TRUE(op.layout().window.shows(milliseconds(1200)));
}

TEST(GotoForm, GoesToARankThatTheFilterHides) {
  Operator op;
  op.press(U'/').type(U"0-9").press(KeyCode::kEnter).press(U'g').type(U"rank 12").press(KeyCode::kEnter);
  EXPECT_EQ(op.state.cursor_rank, 12);
  EXPECT_TRUE(op.state.filter.empty());
}

TEST(GotoForm, GoesToAStepOfTheCursorsRank) {
  Operator op;
  op.press(U'g').type(U"step 40").press(KeyCode::kEnter);
  ASSERT_TRUE(op.state.cursor_time);
  EXPECT_NEAR(static_cast<double>(op.state.cursor_time->count()), 0.8e9, 0.1e9);
}

/// Wherever in a column of time a step begins.
TEST(GotoForm, NamesTheStepThatWasAskedFor) {
  for (const std::u32string axis : {U"", U"a"}) {
    for (int step = 40; step < 60; ++step) {
      Operator op;
      op.type(axis).press(U'g').type(U"step ").press(char32_t(U'0' + step / 10)).press(char32_t(U'0' + step % 10));
      EXPECT_THAT(op.press(KeyCode::kEnter).screen(), HasSubstr(fmt::format(" · step {} · ", step)));
    }
  }
}

TEST(GotoForm, SeeksInAReplayThatHasNotComeSoFar) {
  SyntheticSession replay({.length = milliseconds(300)});
  replay.session.replay.emplace();
  Operator op(replay);
  op.press(U'g').type(U"9s").press(KeyCode::kEnter);
  ASSERT_NE(op.last<ReplaySeek>(), nullptr);
  EXPECT_EQ(op.last<ReplaySeek>()->to, seconds(9));
}

TEST(GotoForm, TakesThePauseOfAReplayAlong) {
  SyntheticSession replay({.length = milliseconds(300)});
  replay.session.replay.emplace();
  Operator op(replay);
  op.press(U' ').press(U'g').type(U"9s").press(KeyCode::kEnter);
  EXPECT_TRUE(op.state.paused);
  EXPECT_EQ(op.state.paused_at, seconds(9));
  EXPECT_TRUE(op.state.follow);
  op.press(U'g').type(U"100ms").press(KeyCode::kEnter);
  EXPECT_TRUE(op.layout().window.shows(milliseconds(100)));
}

TEST(GotoForm, ComplainsAboutAStepThatHasYetToBegin) {
  Operator op;
  op.press(U'g').type(U"step 99999").press(KeyCode::kEnter);
  ASSERT_TRUE(op.state.form);
  EXPECT_THAT(op.screen(), ::testing::ContainsRegex("rank 0 has come to step [0-9]+, not to 99999"));
}

TEST(FilterForm, ShowsOnlyTheRanksThatPass) {
  Operator op;
  op.press(U'/').type(U"3-5,20").press(KeyCode::kEnter);
  EXPECT_EQ(op.state.cursor_rank, 3);
  std::vector<Rank> shown;
  for (const RankRange& group : op.layout().rows.groups) shown.push_back(group.first);
  EXPECT_EQ(shown, (std::vector<Rank>{3, 4, 5, 20}));
  EXPECT_EQ(op.press(U'j').press(U'j').press(U'j').state.cursor_rank, 20);
}

TEST(FilterForm, ShowsAllAgainWhenLeftEmpty) {
  Operator op;
  op.press(U'/').type(U"3").press(KeyCode::kEnter).press(U'/');
  EXPECT_EQ(op.state.form->text, "3");
  op.press(KeyCode::kBackspace).press(KeyCode::kEnter);
  EXPECT_TRUE(op.state.filter.empty());
}

}  // namespace
}  // namespace idlewave::view
