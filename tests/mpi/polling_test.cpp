// Waiting told from working in programs that ask: made of questions and pauses of which is known what they are.

#include "probe/mpi/habits/polling.h"

#include <gmock/gmock.h>

#include <random>

#include "tests/any_seed.h"

namespace idlewave::mpi::habits {
namespace {

using wire::Nanoseconds;

constexpr std::uintptr_t kPlace = 0x1000, kOther = 0x2000, kBehind = 0x3000;
constexpr Nanoseconds kQuestion{200};

/// A process whose processor time stands still while it sleeps, or has lost its core.
class Program {
 public:
  Program() { used_ns = looks = 0; }

  /// Nobody is told anything before the next question. Whether the pause before the question was taken for waiting.
  bool ask_in_vain(std::uintptr_t place = kPlace) {
    const bool was_idle = begin_question();
    is_expected_ = polling_.ask_in_vain(place, now_ + kQuestion);
    work(kQuestion);
    return was_idle;
  }
  /// Where it counts as a call that waits.
  std::uintptr_t ask_and_be_told(std::uintptr_t place = kPlace) {
    begin_question();
    work(kQuestion);
    return polling_.finish(place);
  }
  void ask_for_nothing(std::uintptr_t place = kPlace) {
    begin_question();
    polling_.ask_for_nothing(place);
  }
  void call_another(std::uintptr_t place = 0) {
    if (polling_.is_open()) polling_.turn_away(place);
  }

  void work(Nanoseconds time) { now_ += time, used_ns += time.count(); }
  void sleep(Nanoseconds time) { now_ += time, used_ns += std::min<std::int64_t>(time.count() / 10, 5000); }

  void lose_core(Nanoseconds time) { now_ += time; }

  /// The rank is taken to wait from now on.
  bool is_expected_to_wait() const { return is_expected_; }
  static int times_looked() { return looks; }

  /// A wait of so many questions, and what is taken for waiting of the pauses.
  int visit(int questions, auto pause) {
    int idle = 0;
    for (int i = 0; i < questions; ++i) {
      idle += ask_in_vain();
      pause();
    }
    ask_and_be_told();
    call_another();
    return idle;
  }

 private:
  bool begin_question() { return polling_.goes_on() && polling_.ask_again(now_); }
  static std::int64_t processor_time() { return ++looks, used_ns; }
  static inline std::int64_t used_ns = 0;
  static inline int looks = 0;

  Polling polling_{processor_time};
  Nanoseconds now_{1};
  bool is_expected_ = false;
};

TEST(Polling, IsWaitingWhereNothingIsBetweenTwoQuestions) {
  Program program;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(program.ask_in_vain(), i > 0);
    program.work(Nanoseconds{50});
  }
  EXPECT_TRUE(program.is_expected_to_wait());
  EXPECT_EQ(program.ask_and_be_told(), kPlace);
  EXPECT_EQ(program.times_looked(), 0);
}

TEST(Polling, IsWorkingWhereTheRankWorksLongBetweenTwoQuestions) {
  Program program;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(program.visit(20, [&] { program.work(Nanoseconds{50'000}); }), 0);
  EXPECT_FALSE(program.is_expected_to_wait());
}

TEST(Polling, IsWorkingWhereTheRankWorksAFewMicrosecondsUntilItIsTold) {
  Program program;
  for (const Nanoseconds block : {Nanoseconds{4'000}, Nanoseconds{6'000}, Nanoseconds{9'000}})
    for (int i = 0; i < 100; ++i) EXPECT_EQ(program.visit(20, [&] { program.work(block); }), 0);
  EXPECT_FALSE(program.is_expected_to_wait());
}

TEST(Polling, IsWorkingWhereOthersHaveTheCoreForMostOfTheTime) {
  std::mt19937 dice(any_seed());
  Program program;
  const auto block = [&] {
    program.work(Nanoseconds{100'000 + dice() % 10'000'000});
    program.lose_core(Nanoseconds{dice() % 40'000'000});
  };
  for (int i = 0; i < 100; ++i) EXPECT_EQ(program.visit(20, block), 0);
  EXPECT_FALSE(program.is_expected_to_wait());
}

TEST(Polling, IsWaitingWhereTheRankSleepsBetweenTwoQuestions) {
  Program program;
  int idle = 0;
  for (int i = 0; i < 100; ++i) idle += program.visit(20, [&] { program.sleep(Nanoseconds{150'000}); });
  EXPECT_TRUE(program.is_expected_to_wait());
  EXPECT_GT(idle, 100 * 19 - 8);
}

TEST(Polling, LooksAtTheProcessorTimeSeldom) {
  for (const bool sleeps : {false, true}) {
    Program program;
    const auto pause = [&] { sleeps ? program.sleep(Nanoseconds{150'000}) : program.work(Nanoseconds{8'000}); };
    for (int i = 0; i < 1000; ++i) program.visit(100, pause);
    EXPECT_LT(program.times_looked(), 60) << sleeps;
  }
}

/// As in a loop that backs off. The first yields take longer than others, as nothing that they need is in a cache.
TEST(Polling, IsWaitingWhereTheRankYieldsForAWhileAndSleepsThen) {
  std::mt19937 dice(any_seed());
  Program program;
  int naps = 0, seen = 0;
  for (int i = 0; i < 200; ++i) {
    program.ask_in_vain();
    for (int yields = 2 + int(dice() % 12), left = yields; left > 0; --left) {
      program.work(Nanoseconds{left > yields - 2 ? 2'600 + dice() % 2'000 : 700});
      program.ask_in_vain();
    }
    for (int left = int(dice() % 4); left > 0; --left, ++naps) {
      program.sleep(Nanoseconds{110'000 + dice() % 20'000});
      seen += program.ask_in_vain();
    }
    program.ask_and_be_told();
    program.call_another();
  }
  EXPECT_TRUE(program.is_expected_to_wait());
  EXPECT_LE(naps - seen, 10) << naps;  // of some 300; 0 to 5 with 300 seeds
}

TEST(Polling, IsWorkingWhereAShortBlockOfWorkLosesItsCoreNowAndThen) {
  std::mt19937 dice(any_seed());
  for (const unsigned block : {4'000u, 9'000u, 15'000u, 40'000u}) {
    Program program;
    int idle = 0, expected = 0;
    const auto pause = [&] {
      expected += program.is_expected_to_wait();
      program.work(Nanoseconds{block + dice() % (block / 4)});
      if (dice() % 16 == 0) program.lose_core(Nanoseconds{50'000 + dice() % 4'000'000});
    };
    for (int i = 0; i < 1000; ++i) idle += program.visit(20, pause);
    EXPECT_LE(idle, 64) << block;      // of 1250, those that were looked at
    EXPECT_LE(expected, 10) << block;  // where the first two were
  }
}

TEST(Polling, IsWorkingWhereAnEventLoopHasSomethingToDo) {
  std::mt19937 dice(any_seed());
  Program program;
  int wrong = 0, tasks = 0;
  for (int i = 0; i < 10'000; ++i) {
    program.ask_in_vain();
    const bool has_task = dice() % 10 == 0;
    tasks += has_task;
    has_task ? program.work(Nanoseconds{30'000 + dice() % 100'000}) : program.work(Nanoseconds{300});
    wrong += program.ask_in_vain() == has_task;
  }
  EXPECT_GT(tasks, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(Polling, IsWorkingWhereTheRankAsksInPassing) {
  Program program;
  int idle = 0;
  for (int i = 0; i < 100; ++i) {
    for (int block = 0; block < 20; ++block) {
      idle += program.ask_in_vain();
      program.work(Nanoseconds{5'000});
    }
    program.call_another(kBehind);
  }
  EXPECT_LE(idle, 19);  // of the first time, which nobody could know
  EXPECT_FALSE(program.is_expected_to_wait());
}

TEST(Polling, CountsAtThePlaceOfTheCallThatIsMadeWhereTheAnswerDoesNotCome) {
  Program program;
  program.ask_in_vain();
  program.call_another(kBehind);
  for (int i = 0; i < 100; ++i) {
    program.ask_in_vain();
    EXPECT_EQ(program.ask_and_be_told(), kBehind);
    program.call_another();
    program.ask_in_vain();
    program.call_another(kBehind);
  }
}

TEST(Polling, DoesNotCountWhereTheRankAsksOnWhenNothingIsLeft) {
  Program program;
  program.ask_in_vain();
  program.ask_and_be_told();
  program.ask_for_nothing();
  program.call_another(kBehind);
  for (int i = 0; i < 10; ++i) {
    program.ask_in_vain();
    EXPECT_EQ(program.ask_and_be_told(), 0u);
    program.ask_for_nothing();
    program.call_another(kBehind);
  }
}

TEST(Polling, DoesNotCountWhereTheRankWaitsAlsoWhenItHasBeenAnswered) {
  Program program;
  program.ask_and_be_told();
  program.call_another(kBehind);
  EXPECT_EQ(program.ask_and_be_told(), 0u);
}

TEST(Polling, DoesNotCountWhereTheRankWaitsElsewhereEachTime) {
  Program program;
  program.ask_in_vain();
  program.call_another(kBehind);
  program.ask_in_vain();
  program.call_another(kOther);
  EXPECT_EQ(program.ask_and_be_told(), 0u);
}

TEST(Polling, CountsAtOnePlaceWhateverTheOrderOfAnswersIs) {
  std::mt19937 dice(any_seed());
  Program program;
  for (int i = 0; i < 100; ++i) {
    program.ask_in_vain(kPlace);
    program.ask_in_vain(kOther);
    const bool is_first = dice() % 2 == 0;
    EXPECT_EQ(program.ask_and_be_told(is_first ? kPlace : kOther), kPlace);
    program.ask_in_vain(is_first ? kOther : kPlace);
    EXPECT_EQ(program.ask_and_be_told(is_first ? kOther : kPlace), kPlace);
    program.call_another();
  }
}

TEST(Polling, CountsAtThePlaceThatHasCountedBeforeWhereAnotherIsAskedAheadOfIt) {
  Program program;
  EXPECT_EQ(program.ask_and_be_told(kOther), kOther);
  program.call_another();
  program.ask_in_vain(kPlace);
  EXPECT_EQ(program.ask_and_be_told(kPlace), kPlace);
  EXPECT_EQ(program.ask_and_be_told(kOther), kOther);
  program.call_another();
  EXPECT_EQ(program.ask_and_be_told(kPlace), kOther);
  EXPECT_EQ(program.ask_and_be_told(kOther), kOther);
}

TEST(Polling, TakesWhatIsLongerThanTheRankSleptForUnknownWhereItWasSeenToWork) {
  Program program;
  for (int i = 0; i < 100; ++i) {
    program.ask_in_vain();
    program.sleep(Nanoseconds{150'000});
  }
  EXPECT_TRUE(program.ask_in_vain());
  for (int i = 0; i < 4; ++i) {  // the second is looked at
    program.work(Nanoseconds{10'000'000});
    EXPECT_FALSE(program.ask_in_vain());
  }
  for (int i = 0; i < 10; ++i) {
    program.sleep(Nanoseconds{150'000});
    program.ask_in_vain();
  }
  program.work(Nanoseconds{1'000'000});
  EXPECT_FALSE(program.ask_in_vain());
}

}  // namespace
}  // namespace idlewave::mpi::habits
