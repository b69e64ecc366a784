// A lesson from its first question to its verdict, on simulated ranks in simulated time: nothing here waits for a clock.

#include "monitor/lesson/tutor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "monitor/cli/lesson_board.h"
#include "monitor/cli/lessons/student.h"
#include "monitor/cli/monitor.h"
#include "monitor/cli/simulation/simulated_link.h"

namespace idlewave::cli {
namespace {

using lesson::Stage;
using lesson::Verdict;
using std::chrono::milliseconds, std::chrono::seconds;
using testing::HasSubstr, testing::Not;

constexpr const char* kScenario = R"(
[machine]
ranks = 20
ranks_per_domain = 10
[program]
steps = 3000
kernel = "core"
time = "10 ms"
[communication]
distances = [-1, 1]
protocol = "eager"
[lesson]
title = "T"
summary = "S"
[[lesson.page]]
text = "First"
premise = "lockstep"
[lesson.page.ask]
question = "How fast?"
unit = "ranks/step"
tolerance = "0.2 ranks/step"
answer = "1 rank/step"
hint = "Think of neighbours."
[lesson.page.do]
rank = 5
hold = "60 ms"
[lesson.page.until]
wave = "ended"
stable = "1 s"
at_most = "10 s"
[[lesson.page.check]]
path = "waves.-1.up.leading.ranks_per_step"
theory = "1 rank/step"
tolerance = "0.2 ranks/step"
[[lesson.page.check]]
path = "domains.0.active_mean"
theory = "10 ranks"
tolerance = "0.5 ranks"
beside = "before"
[lesson.page.say]
near = "Well said."
far = "Neighbours alone wait."
none = "Nothing seen."
[[lesson.page]]
text = "For those who were far"
after = "far"
[[lesson.page]]
text = "The last one"
)";

const std::vector<std::string> kOnANetwork = {"communication.L=2us", "communication.o=1us", "communication.g=1us",
                                              "communication.G=1ns/B"};

/// A student in front of the lesson, in a folder of its own.
class Desk {
 public:
  explicit Desk(const std::vector<std::string>& settings = {}, std::uint64_t memory = 512u << 20) {
    path_ = std::filesystem::path(testing::TempDir()) /
            (testing::UnitTest::GetInstance()->current_test_info()->name() + std::string(".toml"));
    std::ofstream(path_) << kScenario;
    const auto scenario = support::load_scenario(path_, settings);
    EXPECT_TRUE(scenario) << scenario.error().message;
    auto course = lesson::make_course(*scenario, false);
    EXPECT_TRUE(course) << course.error().message;
    auto link = simulation::open_simulation(path_, settings, "s");
    EXPECT_TRUE(link) << link.error().message;
    monitor_ = std::make_unique<Monitor>(
        std::move(*link),
        Monitor::Options{.session = "s", .label = "l", .starting = "", .lesson = std::move(*course), .memory = memory});
  }
  ~Desk() { std::filesystem::remove(path_); }

  void wait(Nanoseconds span) {
    for (const Nanoseconds end = now_ + span; now_ < end; now_ += milliseconds(50)) monitor_->work(now_);
  }
  void wait_until(Stage stage) {
    for (int i = 0; i < 1000 && tutor().stage() != stage; ++i) wait(milliseconds(50));
    ASSERT_EQ(tutor().stage(), stage);
  }
  void hold(wire::Rank rank, Nanoseconds span) {
    EXPECT_TRUE(monitor_->send({.id = 0, .ranks = {rank}, .order = wire::DelayOrder{.duration = span}}, now_));
  }
  void press(const view::Key& key) { monitor_->press(key, {80, 24}, {}, now_); }
  std::string screen() { return view::paint::to_text(monitor_->screen({160, 48}, {})); }
  const lesson::Tutor& tutor() const { return *monitor_->tutor(); }
  Monitor& monitor() { return *monitor_; }
  Nanoseconds now() const { return now_; }

 private:
  std::filesystem::path path_;
  std::unique_ptr<Monitor> monitor_;
  Nanoseconds now_{};
};

TEST(Tutor, TakesTheAnswerFirstAndThenTheOrder) {
  Desk desk;
  desk.wait(seconds(2));
  EXPECT_EQ(desk.tutor().stage(), Stage::kAsk);
  EXPECT_NE(desk.tutor().locked(), "");
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  EXPECT_EQ(desk.tutor().stage(), Stage::kDo);
  EXPECT_EQ(desk.tutor().locked(), "");
  EXPECT_THAT(desk.tutor().words(), HasSubstr("hold rank 5 for 60 ms"));
}

TEST(Tutor, SaysWhatAnAnswerLooksLike) {
  Desk desk;
  for (const char* text : {"", "many", "1 s", "1 rank", "1 rank/step 2"})
    EXPECT_FALSE(desk.monitor().answer_lesson(text)) << text;
  EXPECT_TRUE(desk.tutor().record().answers.empty());
  EXPECT_EQ(desk.tutor().expected(), "a number in ranks/step");
}

TEST(Tutor, SaysWhetherItAsksToWhoeverLooksOn) {
  Desk desk;
  const auto asks = [&] { return shown_board(page_to_show(lesson_board(desk.tutor()), 1)).asks; };
  EXPECT_TRUE(asks());
  ASSERT_TRUE(desk.monitor().answer_lesson("1.1"));
  EXPECT_FALSE(asks());
}

TEST(Tutor, GivesAHintToAWrongAnswerOnceAndThenTakesIt) {
  Desk desk;
  ASSERT_TRUE(desk.monitor().answer_lesson("8 ranks/step"));
  EXPECT_EQ(desk.tutor().stage(), Stage::kAsk);
  EXPECT_THAT(desk.tutor().words(), HasSubstr("You said 8 ranks/step. A hint: Think of neighbours. How fast?"));
  ASSERT_TRUE(desk.monitor().answer_lesson("7"));
  EXPECT_EQ(desk.tutor().stage(), Stage::kDo);
  EXPECT_EQ(desk.tutor().record().answers, (std::vector<std::string>{"8 ranks/step", "7"}));
}

TEST(Tutor, MeasuresOnceTheWaveHasEndedAndAllHasBeenQuiet) {
  Desk desk;
  desk.wait(seconds(3));
  ASSERT_TRUE(desk.monitor().answer_lesson("1.1"));
  desk.hold(5, milliseconds(60));
  desk.wait_until(Stage::kWatch);
  desk.wait_until(Stage::kSaid);
  const lesson::PageRecord& record = desk.tutor().record();
  EXPECT_EQ(record.verdict, Verdict::kNear);
  ASSERT_EQ(record.outcomes.size(), 2u);
  EXPECT_NEAR(std::get<double>(*record.outcomes[0].now.value), 1, 1e-6);
  EXPECT_NEAR(std::get<double>(*record.outcomes[1].now.value), 10, 1e-6);
  EXPECT_NEAR(std::get<double>(*record.outcomes[1].beside.value), 10, 1e-6);
  EXPECT_GE(*record.measured_at - *record.began, seconds(1));
  EXPECT_THAT(desk.tutor().words(), HasSubstr("You said 1.1 ranks/step. Speed of the front upwards: measured 1"));
  EXPECT_THAT(desk.tutor().words(), HasSubstr("Well said."));
  EXPECT_EQ(desk.tutor().verdict_in_words(), "You said 1.1 ranks/step. Well said.");
  desk.monitor().turn_lesson(1);
  EXPECT_EQ(desk.tutor().page().text, "The last one") << "the page between is for those who were far";
}

TEST(LessonBoard, ShowsBeforeAndAfterSideBySideAlsoToThoseWhoLookOn) {
  Desk desk;
  desk.wait(seconds(3));
  EXPECT_TRUE(lesson_board(desk.tutor()).figures.empty());
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.hold(5, milliseconds(60));
  desk.wait_until(Stage::kSaid);
  const view::Lesson board = lesson_board(desk.tutor());
  ASSERT_EQ(board.figures.size(), 2u);
  const auto& [label, before, now, theory, before_bar, now_bar, theory_bar] = board.figures[1];
  EXPECT_EQ(label, "Active ranks on socket 0");
  EXPECT_EQ(before, "10 ranks");
  EXPECT_THAT(now, testing::MatchesRegex("(9.99|10).* ranks"));
  EXPECT_EQ(theory, "10 ranks");
  EXPECT_NEAR(before_bar, 1, 1e-3);
  EXPECT_NEAR(now_bar, 1, 1e-3);
  EXPECT_NEAR(theory_bar, 1, 1e-3);
  EXPECT_EQ(board.figures[0].before, "") << "nobody asked for that";
  for (const char* words : {"before ", "after ", "theory", "Active ranks on socket 0\n", "10 ranks  10 ranks"})
    EXPECT_THAT(desk.screen(), HasSubstr(words));
  const view::Lesson seen = shown_board(page_to_show(board, 7));
  EXPECT_EQ(seen.figures, board.figures);
  EXPECT_EQ(seen.verdict, board.verdict);
}

TEST(Tutor, SendsThoseWhoWereFarToTheirPage) {
  Desk desk;
  desk.wait(seconds(2));
  ASSERT_TRUE(desk.monitor().answer_lesson("3"));
  ASSERT_TRUE(desk.monitor().answer_lesson("3"));
  desk.hold(5, milliseconds(60));
  desk.wait_until(Stage::kSaid);
  EXPECT_EQ(desk.tutor().record().verdict, Verdict::kFar);
  desk.monitor().turn_lesson(1);
  EXPECT_EQ(desk.tutor().page().text, "For those who were far");
  desk.monitor().turn_lesson(-1);
  EXPECT_EQ(desk.tutor().page_index(), 0u);
}

TEST(Tutor, CountsOnlyTheOrderThatThePageAsksFor) {
  Desk desk;
  desk.wait(seconds(2));
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.hold(6, milliseconds(60));
  desk.hold(5, milliseconds(61));
  desk.wait(seconds(3));
  EXPECT_EQ(desk.tutor().stage(), Stage::kDo);
}

TEST(Tutor, SaysThatNothingWasMeasuredWhereTheProgramEndsBefore) {
  Desk desk({"program.steps=300"});
  desk.wait(milliseconds(2500));
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.hold(5, milliseconds(60));
  desk.wait(seconds(3));
  EXPECT_EQ(desk.tutor().record().verdict, Verdict::kNone);
  EXPECT_THAT(desk.tutor().words(),
              HasSubstr("Nothing was measured: the program ended before it could be measured. Nothing seen."));
}

/// Step 2900 of 10 ms is some 27 s away, and the page watches for 10 s.
TEST(Tutor, MeasuresNothingWhereWhatWasOrderedTakesNoEffectInTime) {
  Desk desk;
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.wait(seconds(2));
  EXPECT_TRUE(desk.monitor().send(
      {.id = 0, .ranks = {5}, .order = wire::DelayOrder{.duration = milliseconds(60), .at_step = 2900}}, desk.now()));
  desk.wait(seconds(9));
  EXPECT_EQ(desk.tutor().stage(), Stage::kSent);
  desk.wait(seconds(2));
  ASSERT_EQ(desk.tutor().stage(), Stage::kSaid);
  EXPECT_EQ(desk.tutor().record().verdict, Verdict::kNone);
  EXPECT_THAT(desk.tutor().words(), HasSubstr("Nothing was measured: what was ordered did not take effect in time."));
}

TEST(Tutor, SaysThatThereWasNoRoomForWhatItWasToMeasure) {
  constexpr std::uint64_t kForASecond = 200'000;
  Desk desk({"lesson.page.0.until.stable=5s"}, kForASecond);
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.wait(seconds(2));
  desk.hold(5, milliseconds(60));
  desk.wait_until(Stage::kSaid);
  EXPECT_EQ(desk.tutor().record().verdict, Verdict::kNone);
  EXPECT_THAT(desk.tutor().words(),
              testing::MatchesRegex(
                  ".*Nothing was measured: not all is kept of the [5-9] s since then; --memory gives room\\."));
}

TEST(Tutor, WarnsOfABrokenPremiseAndRemembersIt) {
  Desk desk;
  desk.wait(seconds(2));
  EXPECT_EQ(desk.tutor().broken_premise(), "");
  desk.hold(15, milliseconds(400));
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.wait(milliseconds(400));
  EXPECT_THAT(desk.tutor().broken_premise(), HasSubstr("is not in lockstep"));
  desk.hold(5, milliseconds(60));
  desk.wait_until(Stage::kSaid);
  EXPECT_THAT(desk.tutor().words(), HasSubstr("is not in lockstep, nor is 1 more, so this need not be the work of it"));
}

TEST(Tutor, LooksForThePremiseInTheSocketsOfThePageAlone) {
  Desk desk({"lesson.page.0.premise_sockets=[1]"});
  desk.wait(seconds(2));
  desk.hold(15, milliseconds(400));
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.wait(milliseconds(400));
  EXPECT_EQ(desk.tutor().broken_premise(), "Socket 1 is not in lockstep");
}

TEST(Tutor, SaysOnLaterPagesThatNothingWasOrdered) {
  Desk desk;
  desk.wait(seconds(1));
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  EXPECT_THAT(desk.tutor().words(), Not(HasSubstr("was not ordered")));
  desk.press(view::key_of(view::KeyCode::kEnter));
  ASSERT_EQ(desk.tutor().page_index(), 2u);
  desk.wait(milliseconds(50));
  EXPECT_THAT(desk.screen(), HasSubstr("What page 1 asks for was not ordered"));
  desk.press(view::key_of(view::KeyCode::kBackspace));
  desk.wait(milliseconds(50));
  EXPECT_THAT(desk.screen(), Not(HasSubstr("was not ordered")));
  desk.hold(5, milliseconds(60));
  desk.wait(milliseconds(50));
  desk.press(view::key_of(view::KeyCode::kEnter));
  desk.wait(milliseconds(50));
  ASSERT_EQ(desk.tutor().page_index(), 2u);
  EXPECT_EQ(desk.tutor().words(), "");
}

TEST(Tutor, SetsTheCursorAndTheDelayOfThePage) {
  Desk desk;
  desk.wait(seconds(2));
  ASSERT_TRUE(desk.monitor().answer_lesson("1"));
  desk.press(view::key_of(U'i'));
  EXPECT_THAT(desk.screen(), HasSubstr("inject into rank 5: 60 ms_"));
  desk.press(view::key_of(view::KeyCode::kEnter));
  desk.press(view::key_of(U'y'));
  desk.wait_until(Stage::kWatch);
}

TEST(Tutor, TakesAnswersFromTheKeyboardAndComplainsInPlace) {
  Desk desk;
  desk.wait(seconds(1));
  desk.press(view::key_of(U'i'));
  EXPECT_THAT(desk.screen(), HasSubstr("the lesson asks something first"));
  desk.press(view::key_of(view::KeyCode::kEnter));
  desk.press(view::key_of(U'x'));
  desk.press(view::key_of(view::KeyCode::kEnter));
  EXPECT_THAT(desk.screen(), HasSubstr("\"x\" is no number in ranks/step; write it as in 2 ranks/step"));
  desk.press(view::key_of(view::KeyCode::kBackspace));
  desk.press(view::key_of(U'1'));
  desk.press(view::key_of(view::KeyCode::kEnter));
  EXPECT_EQ(desk.tutor().stage(), Stage::kDo);
  EXPECT_THAT(desk.screen(), Not(HasSubstr("your answer")));
}

TEST(Student, GoesThroughALessonByTheory) {
  Desk desk;
  lessons::Student student(desk.monitor());
  for (int i = 0; i < 2000 && !student.go_on(desk.now()); ++i) desk.wait(milliseconds(50));
  EXPECT_TRUE(student.saw_all());
  const std::vector<std::string> news = student.news();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_THAT(news[0], testing::StartsWith("page 1 of 3: You said 1 rank/step."));
}

TEST(Student, EndsWhereItsOrderIsRefused) {
  Desk desk(kOnANetwork);
  desk.wait(seconds(1));
  EXPECT_EQ(desk.monitor().link_status().no_command, wire::NoCommand::kNoOrders);
  lessons::Student student(desk.monitor());
  for (int i = 0; i < 500 && !student.go_on(desk.now()); ++i) desk.wait(milliseconds(50));
  EXPECT_TRUE(student.go_on(desk.now()));
  EXPECT_EQ(student.failure(),
            "the order of page 1 was refused: a run on a LogGOPS network takes no orders while it runs");
}

TEST(Student, HasNotSeenWhatIsNotAsTheorySays) {
  Desk desk({"lesson.page.0.check.0.theory=2 ranks/step"});
  lessons::Student student(desk.monitor());
  for (int i = 0; i < 2000 && !student.go_on(desk.now()); ++i) desk.wait(milliseconds(50));
  EXPECT_FALSE(student.saw_all());
}

}  // namespace
}  // namespace idlewave::cli
