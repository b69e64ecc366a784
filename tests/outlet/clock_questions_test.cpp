#include "probe/outlet/clock_questions.h"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace idlewave::outlet {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using wire::Nanoseconds;
using wire::RoundTrip;

/// An answer by a clock that is 1000 s ahead, each way so long under way.
wire::TellTime answer_to(const wire::AskTime& question, Nanoseconds way) {
  const Nanoseconds heard = question.asked + way + seconds(1000);
  return {question.asked, heard, heard + microseconds(2), 9};
}

TEST(ClockQuestions, AreAskedOftenAtFirstAndThenSeldom) {
  ClockQuestions questions;
  int at_first = 0, later = 0;
  for (Nanoseconds now{}; now < seconds(20); now += milliseconds(10)) {
    const auto question = questions.ask(now);
    if (!question) continue;
    ++(now < seconds(10) ? at_first : later);
    questions.answer(answer_to(*question, microseconds(30)), now + microseconds(70));
  }
  EXPECT_EQ(at_first, 250);
  EXPECT_EQ(later, 50);
}

TEST(ClockQuestions, AreNotAskedAgainBeforeAnAnswerUnlessThatIsLost) {
  ClockQuestions questions;
  EXPECT_TRUE(questions.ask(seconds(5)));
  EXPECT_FALSE(questions.ask(seconds(5) + milliseconds(999)));
  EXPECT_TRUE(questions.ask(seconds(6)));
}

TEST(ClockQuestions, TellTheShortestTripOfASecond) {
  ClockQuestions questions;
  std::vector<RoundTrip> told;
  for (int i = 0; i < 75; ++i) {
    const Nanoseconds now = milliseconds(40) * i, way = microseconds(30 + (i * 37) % 50);
    if (const auto question = questions.ask(now))
      questions.answer(answer_to(*question, way), now + 2 * way + microseconds(2));
    for (const RoundTrip& trip : questions.take(now + milliseconds(1))) told.push_back(trip);
  }
  ASSERT_EQ(told.size(), 3u) << "the first at once, then one a second";
  EXPECT_EQ(told[0].back - told[0].asked, 2 * microseconds(30) + microseconds(2));
  for (const RoundTrip& trip : told) {
    EXPECT_EQ(trip.reference, 9u);
    EXPECT_EQ(trip.told - trip.heard, microseconds(2));
  }
  // Of 25 ways in turn, 30 us and what is 37 i modulo 50 more, the least.
  EXPECT_EQ(told[1].back - told[1].asked, 2 * microseconds(31) + microseconds(2));
}

TEST(ClockQuestions, PassOverAnswersThatWereNotAskedForOrCantBe) {
  ClockQuestions questions;
  constexpr Nanoseconds kEarliest = Nanoseconds::min(), kLatest = Nanoseconds::max();
  questions.answer({seconds(1), seconds(1), seconds(1), 9}, seconds(1));
  const auto ask_and_answer = [&](Nanoseconds now, Nanoseconds asked, Nanoseconds heard, Nanoseconds told,
                                  Nanoseconds back) {
    EXPECT_TRUE(questions.ask(now));
    questions.answer({asked, heard, told, 9}, back);
  };
  ask_and_answer(seconds(10), seconds(9), seconds(1), seconds(1), seconds(10));
  ask_and_answer(seconds(20), seconds(20), kEarliest, kLatest, seconds(20));
  ask_and_answer(seconds(30), seconds(30), kLatest, kEarliest, seconds(30));
  ask_and_answer(seconds(40), seconds(40), seconds(1), seconds(1), seconds(45));
  ask_and_answer(seconds(50), seconds(50), seconds(1), seconds(1), seconds(49));
  ask_and_answer(seconds(60), seconds(60), seconds(1), seconds(1) + milliseconds(5), seconds(60) + milliseconds(1));
  EXPECT_TRUE(questions.take(seconds(70)).empty());
}

}  // namespace
}  // namespace idlewave::outlet
