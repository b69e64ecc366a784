// Steps of programs that are made at random: what comes before their loop, what they call in it, how they wait for their
// requests, how often they write a checkpoint, which ranks come to another copy of the loop's body. Which iteration a call
// belongs to is known as the program is made.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "tests/any_seed.h"
#include "tests/mpi/called_places.h"

namespace idlewave::mpi::habits {
namespace {

/// How a loop's body waits for the requests that it has started.
enum class Waiting { kAtOnce, kOneByOne, kBlocking };

class Program {
 public:
  explicit Program(unsigned seed) : dice_(seed) {
    waiting_ = Waiting(up_to(3) - 1);
    collectives_ = up_to(4) - 1 + (waiting_ == Waiting::kBlocking);
    for (std::size_t i = 0; i < collectives_; ++i)
      collective_.push_back({up_to(2) == 1 ? kBarrier : kAllreduce, new_place()});
    receives_ = new_place(), sends_ = new_place(), waits_ = new_place();
    comes_first_ = up_to(2) == 1;
    checkpoint_every_ = 17 + int(up_to(20));
    checkpoint_ = new_place();
    before_ = new_place();
  }

  /// A rank with so many neighbours. `before`: calls before its loop; `copied`: iterations in which it comes to another copy
  /// of the body's second half.
  Calls run(int neighbours, int before, int iterations, const std::set<int>& copied) {
    Calls calls;
    for (int i = 0; i < before; ++i) calls.push_back(call(kRecv, before_ + 16 * std::uintptr_t(i)));
    for (int iteration = 0; iteration < iterations; ++iteration) {
      Calls body = body_of(neighbours, iteration);
      if (copied.contains(iteration))
        for (std::size_t i = body.size() / 2; i < body.size(); ++i) body[i].site.place += kCopy;
      calls.insert(calls.end(), body.begin(), body.end());
      for (int i = 0; (iteration + 1) % checkpoint_every_ == 0 && i < 20; ++i)
        calls.push_back(call(kFileWrite, checkpoint_, iteration));
    }
    return calls;
  }

 private:
  static constexpr std::uintptr_t kCopy = 0x1008;

  Calls body_of(int neighbours, int iteration) const {
    Calls body;
    if (comes_first_) exchange(neighbours, iteration, body);
    for (const auto& [function, place] : collective_) body.push_back(call(function, place, iteration));
    if (!comes_first_) exchange(neighbours, iteration, body);
    return body;
  }

  void exchange(int neighbours, int iteration, Calls& body) const {
    if (waiting_ == Waiting::kBlocking) return;
    for (int i = 0; i < neighbours; ++i) body.push_back(call(kIrecv, receives_, iteration));
    for (int i = 0; i < neighbours; ++i) body.push_back(call(kIsend, sends_, iteration));
    const int waits = waiting_ == Waiting::kOneByOne ? 2 * neighbours : 1;
    for (int i = 0; i < waits; ++i) body.push_back(call(waits == 1 ? kWaitall : kWait, waits_, iteration));
  }

  std::size_t up_to(std::size_t most) { return std::uniform_int_distribution<std::size_t>(1, most)(dice_); }
  std::uintptr_t new_place() { return next_place_ += 0x10000 * up_to(100); }

  std::mt19937 dice_;
  std::uintptr_t next_place_ = 0x400000;
  Waiting waiting_{};
  bool comes_first_ = false;
  std::size_t collectives_ = 0;
  std::vector<std::pair<Function, std::uintptr_t>> collective_;
  std::uintptr_t receives_ = 0, sends_ = 0, waits_ = 0, checkpoint_ = 0, before_ = 0;
  int checkpoint_every_ = 0;
};

TEST(StepFinder, EveryIterationOfARandomProgramIsAStep) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 400; ++seed) {
    SCOPED_TRACE(seed);
    const auto steps = by_iteration(Program(seed).run(1 + int(seed % 7), int(seed % 40), kIterations, {}));
    ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
    for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration);
  }
}

TEST(StepFinder, RanksAgreeWhateverEachDoesBeforehandAndHoweverManyNeighboursItHas) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 200; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const auto one = by_iteration(program.run(1, 0, kIterations, {}));
    const auto other = by_iteration(program.run(6, 25, kIterations, {}));
    for (int iteration = kUnknown; iteration < kIterations; ++iteration) {
      ASSERT_TRUE(one.contains(iteration) && other.contains(iteration)) << iteration;
      ASSERT_EQ(one.at(iteration), other.at(iteration));
    }
  }
}

/// As a compiler makes it of a condition within the loop: gcc -O1 does.
TEST(StepFinder, ARankThatComesToACopyOfTheLoopNowAndThenKeepsItsNumbers) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 dice(seed);
    std::set<int> copied;
    for (int i = 0; i < 5; ++i) copied.insert(std::uniform_int_distribution<int>(kUnknown, kIterations - 1)(dice));
    const auto steps = by_iteration(Program(seed).run(1 + int(seed % 7), 0, kIterations, copied));
    for (int iteration = kUnknown; iteration < kIterations; ++iteration) {
      ASSERT_TRUE(steps.contains(iteration)) << iteration << (copied.contains(iteration) ? ", a copy" : "");
      ASSERT_EQ(steps.at(iteration), iteration);
    }
  }
}

/// One more call of the same function in the same place of the loop, where there are others: it is no copy.
TEST(StepFinder, ACallThatOneRankMakesMoreIsNoStep) {
  Calls calls;
  for (int i = 0; i < kIterations; ++i) {
    calls.push_back(call(kRecv, 0x1000, i));
    if (i % 10 == 9) calls.push_back(call(kAllreduce, 0x1800, i));
    calls.push_back(call(kAllreduce, 0x2000, i));
  }
  const auto steps = by_iteration(calls);
  EXPECT_GE(steps.size(), std::size_t(kIterations - kUnknown));
  for (const auto& [iteration, step] : steps) EXPECT_EQ(step, iteration);
}

TEST(StepFinder, WhereARankWaitsLessOftenThanUsualItsNumbersGoOn) {
  Calls calls;
  for (int i = 0; i < kIterations; ++i) {
    for (int k = 0; k < 4; ++k) calls.push_back(call(kIrecv, 0x1000, i));
    for (int k = 0; k < (i % 10 == 9 ? 3 : i % 10 == 5 ? 5 : 4); ++k) calls.push_back(call(kWait, 0x2000, i));
  }
  const auto steps = by_iteration(calls);
  EXPECT_GE(steps.size(), std::size_t(kIterations * 9 / 10 - kUnknown));
  for (const auto& [iteration, step] : steps) EXPECT_EQ(step, iteration);
}

/// Also a rank whose rows are all of one length while the sequence is looked for.
TEST(StepFinder, RanksAgreeHoweverOftenEachWaitsForSomeOfItsRequests) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 dice(seed);
    const int even_at_first = int(dice() % 60), most = 2 + int(dice() % 6);
    Calls calls;
    for (int i = 0; i < 3 * kIterations; ++i) {
      for (int k = 0; k < most; ++k) calls.push_back(call(k % 2 ? kIsend : kIrecv, k % 2 ? 0x1800 : 0x1000, i));
      const int times = i < even_at_first ? 1 + int(seed % 2) : 1 + int(dice() % unsigned(most));
      for (int k = 0; k < times; ++k) calls.push_back(call(kWaitsome, 0x2000, i));
    }
    const auto steps = by_iteration(calls);
    for (int i = kUnknown; i < 3 * kIterations - 1; ++i) {
      ASSERT_TRUE(steps.contains(i)) << i;
      ASSERT_EQ(steps.at(i), i);
    }
  }
}

/// Whom an iteration waited for is then known: its last row belongs to it, and what is started next does not.
TEST(StepFinder, WhereRowsDifferAStepHasBegunWhenRequestsAreStartedAgain) {
  std::mt19937 dice(any_seed());
  Calls calls;
  for (int i = 0; i < kIterations; ++i) {
    for (int k = 0; k < 3; ++k) calls.push_back(call(kIrecv, 0x1000, i));
    for (int k = 1 + int(dice() % 4); k > 0; --k) calls.push_back(call(kWaitsome, 0x2000, i));
  }
  const auto steps = steps_of(calls);
  ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
  for (std::size_t i = steps.size() / 2; i < steps.size(); ++i) {
    const std::size_t begun = steps[i].call;
    EXPECT_TRUE(calls[begun].starts && !calls[begun - 1].starts) << begun;
  }
}

/// Ranks with one neighbour or two: where they send stands once in the loop as well, but not at its end.
TEST(StepFinder, AStepBeginsBehindTheLastReceiveHoweverManyThereAre) {
  for (const int receives : {1, 2}) {
    Calls calls;
    for (int i = 0; i < kIterations; ++i) {
      for (int k = 0; k < receives; ++k) calls.push_back(call(kBarrier, 0x1000 + 16 * std::uintptr_t(k), i));
      for (int k = 0; k < receives; ++k) calls.push_back(call(kRecv, 0x2000, i));
    }
    const auto steps = steps_of(calls);
    ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
    for (const Seen& seen : steps) EXPECT_EQ(seen.call % std::size_t(2 * receives), std::size_t(2 * receives - 1));
  }
}

/// Ranks find out at different moments.
TEST(StepFinder, AProgramThatGoesOnToAnotherLoopIsFollowedAndNumbersGoOn) {
  for (const Function other : {kBarrier, kFileWrite, kSendrecv}) {
    std::map<int, Step> of_first;
    for (const int more : {0, 7, 30}) {
      Calls calls;
      int iteration = 0;
      for (int i = 0; i < 100; ++i, ++iteration) {
        calls.push_back(call(kRecv, 0x1000, iteration));
        calls.push_back(call(kAllreduce, 0x2000, iteration));
      }
      for (int i = 0; i < more; ++i) calls.push_back(call(kRecv, 0x900000 + 16 * std::uintptr_t(i)));
      for (int i = 0; i < 300; ++i, ++iteration) {
        if (other == kSendrecv) calls.push_back(call(kBarrier, 0x30000, iteration));
        calls.push_back(call(other, 0x40000, iteration));
      }
      const auto steps = by_iteration(calls);
      for (int i = 250; i < iteration; ++i) {
        ASSERT_TRUE(steps.contains(i)) << i;
        EXPECT_EQ(steps.at(i), i) << more;
      }
    }
  }
}

/// As where some ranks send what they have to others one after the other before all begin. What the steps end with has been
/// called then as well.
TEST(StepFinder, RanksAgreeWhateverShortLoopSomeHaveBeenInBefore) {
  for (int trial = 0; trial < 100; ++trial) {
    const unsigned seed = any_seed();
    SCOPED_TRACE(seed);
    std::mt19937 dice(seed);
    const auto up_to = [&](int most) { return std::uniform_int_distribution<>(1, most)(dice); };
    const int before = up_to(20), exchanges = up_to(3);
    std::map<int, Step> of_first;
    for (const int messages : {0, 16 + up_to(40), 16 + up_to(40)}) {
      Calls calls;
      for (int i = 0; i < before; ++i) calls.push_back(call(kAllreduce, 0x20000, -100 - i));
      for (int i = 0; i < messages; ++i) calls.push_back(call(messages % 2 ? kRecv : kSend, 0x900000, -2 - i));
      for (int i = 0; i < 200; ++i) {
        for (int k = 0; k < exchanges; ++k)
          calls.push_back(call(kSendrecv, 0x40000 + 16 * std::uintptr_t(k), i, peers_of(k, k)));
        calls.push_back(call(kAllreduce, 0x20000, i, kEverybody));
      }
      const std::map<int, Step> steps = by_iteration(calls);
      if (of_first.empty()) of_first = steps;
      for (int i = 100; i < 200; ++i) EXPECT_EQ(steps.at(i), of_first.at(i)) << messages;
    }
  }
}

/// From one loop to another, and back: of any length, and some with a place in common.
TEST(StepFinder, NumbersGrowWhateverAProgramGoesOnTo) {
  for (int trial = 0; trial < 200; ++trial) {
    const unsigned seed = any_seed();
    SCOPED_TRACE(seed);
    std::mt19937 dice(seed);
    const auto up_to = [&](int most) { return std::uniform_int_distribution<>(1, most)(dice); };
    std::vector<Calls> bodies;
    for (const int length : {6, 12, 200}) {
      Calls& body = bodies.emplace_back();
      for (int k = up_to(length); k > 0; --k)
        body.push_back(call(Function(up_to(kWaitall)), 0x10000 * std::uintptr_t(up_to(5 * length))));
    }
    Calls calls;
    for (int i = 0; i < 6; ++i) {
      const Calls& body = bodies[std::size_t(up_to(3) - 1)];
      for (int k = up_to(100); k > 0; --k) calls.insert(calls.end(), body.begin(), body.end());
    }
    Step last = -1;
    for (const Seen& seen : steps_of(calls)) {
      EXPECT_GT(seen.step, last);
      EXPECT_LE(seen.step, Step(seen.call));
      last = seen.step;
    }
  }
}

TEST(StepFinder, ALoopOfOneCallHasItsSteps) {
  Calls calls;
  for (int i = 0; i < 100; ++i) calls.push_back(call(kBarrier, 0x1000, i));
  const auto steps = by_iteration(calls);
  EXPECT_EQ(steps.size(), 85u);
  for (const auto& [iteration, step] : steps) EXPECT_EQ(step, iteration);
}

TEST(StepFinder, CallsWithoutOrderHaveNoSteps) {
  std::mt19937 dice(any_seed());
  Calls calls;
  for (int i = 0; i < 20000; ++i) calls.push_back(call(kRecv, 0x10000 + 0x10000 * (dice() % 20)));
  EXPECT_THAT(steps_of(calls).size(), testing::Lt(20000u / 10));
}

/// As where a rank asks for its messages while it works, and waits for those that have not come then.
TEST(StepFinder, RanksAgreeWhenverItShowsThatTwoPlacesAreOne) {
  constexpr std::uintptr_t kStarts = 0x1000, kAsks = 0x2000, kWaits = 0x3000;
  for (const int shows_at : {0, 1, 7, 40, 200}) {
    StepFinder finder;
    Step latest = wire::kNoStep;
    for (int iteration = 0; iteration < 2 * kIterations; ++iteration) {
      const auto note = [&](Step step) { latest = step != wire::kNoStep ? step : latest; };
      note(finder.start(call(kIrecv, kStarts).site, kNobody));
      if (iteration == shows_at) finder.take_for(kAsks, kWaits);
      note(finder.leave(call(kWait, iteration < shows_at ? kAsks : kWaits).site, kNobody, {}));
      if (iteration != shows_at - 1 || shows_at <= kUnknown) continue;
      EXPECT_EQ(latest, iteration);
    }
    EXPECT_EQ(latest, 2 * kIterations - 1) << shows_at;
  }
}

TEST(StepFinder, MorePlacesThanItKnowsDoNotHarmIt) {
  Calls calls;
  for (std::uintptr_t i = 1; i < 5000; ++i) calls.push_back(call(i % 2 ? kRecv : kIsend, 16 * i));
  EXPECT_THAT(steps_of(calls), testing::IsEmpty());
}

}  // namespace
}  // namespace idlewave::mpi::habits
