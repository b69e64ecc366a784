// Steps of programs that are made at random: what comes before their loop, what they call in it, how they wait for their
// requests, how often they write a checkpoint, which ranks come to another copy of the loop's body. Which iteration a call
// belongs to is known as the program is made.

#include "probe/mpi/step_finder.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <vector>

namespace idlewave::mpi {
namespace {

using wire::Step;

constexpr int kNoIteration = -1;

enum Function : std::uint16_t {
  kBarrier,
  kSendrecv,
  kRecv,
  kAllreduce,
  kIrecv,
  kIsend,
  kWait,
  kWaitall,
  kWaitsome,
  kFileWrite
};

struct Called {
  CallSite site;
  bool starts = false;
  int iteration = kNoIteration;
  Peers peers = kNobody;
  wire::Nanoseconds work{};
};
using Calls = std::vector<Called>;

Called call(Function function, std::uintptr_t place, int iteration = kNoIteration, Peers peers = kNobody) {
  auto ends = CallSite::Ends::kNone;
  if (function == kWait || function == kWaitall) ends = CallSite::Ends::kRequests;
  if (function == kWaitsome) ends = CallSite::Ends::kSomeRequests;
  return {{place, 0x7000, CallSite::call_of(function, ends)},
          function == kIrecv || function == kIsend,
          iteration,
          peers,
          {}};
}

struct Seen {
  Step step;
  std::size_t call;  ///< With whose end it begins; of one that starts a request, before it.
};

std::vector<Seen> steps_of(const Calls& calls) {
  StepFinder finder;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto& [site, starts, iteration, peers, work] = calls[i];
    const Step step = starts ? finder.start(site, peers) : finder.leave(site, peers, work);
    if (starts) finder.worked(work);
    if (step != wire::kNoStep) seen.push_back({step, i});
  }
  return seen;
}

/// The number of the step that begins behind what each iteration waits for; none has two.
std::map<int, Step> by_iteration(const Calls& calls) {
  std::map<int, Step> found;
  for (const Seen& seen : steps_of(calls)) {
    const Called& with = calls[seen.call];
    const int iteration = with.starts ? with.iteration - 1 : with.iteration;
    EXPECT_TRUE(found.emplace(iteration, seen.step).second) << "two steps in iteration " << iteration;
  }
  return found;
}

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

constexpr int kIterations = 120, kUnknown = 24;  ///< The latter until it is believed, at most.

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
  for (const auto& [iteration, step] : by_iteration(calls)) EXPECT_EQ(step, iteration);
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

TEST(StepFinder, ALoopOfOneCallHasItsSteps) {
  Calls calls;
  for (int i = 0; i < 100; ++i) calls.push_back(call(kBarrier, 0x1000, i));
  const auto steps = by_iteration(calls);
  EXPECT_EQ(steps.size(), 85u);
  for (const auto& [iteration, step] : steps) EXPECT_EQ(step, iteration);
}

/// How the body of a loop over partners is written.
enum class Exchange { kAtOnce, kOneAfterTheOther, kRequests, kLookingFirst, kToAndFrom };
constexpr int kExchanges = 5;

constexpr wire::Nanoseconds kWork{1'000'000};

void add_calls(Calls& calls, Exchange exchange, int iteration, int partner) {
  const Peers both = peers_of(partner, partner), to = peers_of(partner, -1), from = peers_of(-1, partner);
  switch (exchange) {
    case Exchange::kAtOnce: calls.push_back(call(kSendrecv, 0x1000, iteration, both)); return;
    case Exchange::kOneAfterTheOther:
      calls.push_back(call(kBarrier, 0x1000, iteration, to));
      calls.push_back(call(kRecv, 0x1100, iteration, from));
      return;
    case Exchange::kRequests:
      calls.push_back(call(kIrecv, 0x1000, iteration, from));
      calls.push_back(call(kIsend, 0x1100, iteration, to));
      calls.push_back(call(kWaitall, 0x1200, iteration));
      return;
    case Exchange::kLookingFirst:
      calls.push_back(call(kBarrier, 0x1000, iteration, from));
      calls.push_back(call(kRecv, 0x1100, iteration, from));
      return;
    case Exchange::kToAndFrom:
      calls.push_back(call(kSendrecv, 0x1000, iteration, peers_of(partner + 1, partner > 0 ? partner - 1 : -1)));
  }
}

void add_round(Calls& calls, Exchange exchange, int iteration, int partner, wire::Nanoseconds work) {
  const std::size_t first = calls.size();
  add_calls(calls, exchange, iteration, partner);
  calls[first].work = work;
}

/// The rank works before it goes through its partners, more or less, and a little for each.
void add_loop(Calls& calls, Exchange exchange, int iteration, const std::vector<int>& partners, std::mt19937& dice) {
  const wire::Nanoseconds work = kWork * std::uniform_int_distribution(1, 10)(dice);
  for (std::size_t i = 0; i < partners.size(); ++i) {
    const wire::Nanoseconds little = kWork / std::uniform_int_distribution(5, 100)(dice);
    add_round(calls, exchange, iteration, partners[i], i == 0 ? work : little);
  }
}

/// As neighbours in a graph, or the stages of a collective that is made by hand.
TEST(StepFinder, ALoopOverPartnersIsOneStepHoweverManyARankHas) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 400; ++seed) {
    std::mt19937 dice(seed);
    const auto exchange = Exchange(dice() % kExchanges);
    const int partners = 1 + int(dice() % 40);
    SCOPED_TRACE(testing::Message() << seed << ": " << partners << " partners, exchange " << int(exchange));
    std::vector<int> with(64);
    std::iota(with.begin(), with.end(), 0);
    std::ranges::shuffle(with, dice);
    with.resize(std::size_t(partners));
    Calls calls;
    for (int i = 0; i < kIterations; ++i) add_loop(calls, exchange, i, with, dice);
    const auto steps = by_iteration(calls);
    ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
    for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration);
  }
}

/// As where ranks exchange by one function with both neighbours in each direction of a grid, which may be one rank, or the
/// rank itself.
TEST(StepFinder, ALoopOverPartnersMayMeetOneOfThemTwiceWhereTheRankWorksOnceInIt) {
  std::mt19937 dice(any_seed());
  for (const std::vector<int>& with :
       {std::vector{1, 1, 2, 2, 0, 0}, {1, 1, 0, 0, 0, 0}, {3, 1, 2, 2}, {5, 5, 5, 2}, {1, 2, 1}}) {
    for (int exchange = 0; exchange < kExchanges; ++exchange) {
      SCOPED_TRACE(testing::Message() << testing::PrintToString(with) << ", exchange " << exchange);
      Calls calls;
      for (int i = 0; i < kIterations; ++i) add_loop(calls, Exchange(exchange), i, with, dice);
      const auto steps = by_iteration(calls);
      ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
      for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration);
    }
  }
}

/// Of as many calls as a sequence may have, whatever number of rounds makes a step.
TEST(StepFinder, ALongLoopOverTwoPartnersIsOneStep) {
  for (const int places : {2, 100, 200, 255}) {
    Calls calls;
    for (int i = 0; i < kIterations; ++i)
      for (int partner = 0; partner < 2; ++partner)
        for (int place = 0; place < places; ++place) {
          calls.push_back(call(kSendrecv, 0x1000 + 16 * std::uintptr_t(place), i, peers_of(partner, partner)));
          if (partner == 0 && place == 0) calls.back().work = kWork;
        }
    const auto steps = by_iteration(calls);
    ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown)) << places;
    for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration) << places;
  }
}

/// The inner loop alone comes often enough to be taken for the steps, if it is not seen that its partners differ. They may
/// come as they like, as those who are found by looking for any message.
TEST(StepFinder, ALoopOverPartnersWithinAnotherGivesThatOnesSteps) {
  std::mt19937 dice(any_seed());
  for (int i = 0; i < 2 * kExchanges; ++i) {
    for (const int partners : {1, 7, 8, 20, 40}) {
      SCOPED_TRACE(testing::Message() << partners << " partners, exchange " << i);
      std::vector<int> with(static_cast<std::size_t>(partners));
      std::iota(with.begin(), with.end(), 0);
      Calls calls;
      for (int iteration = 0; iteration < kIterations; ++iteration) {
        if (i >= kExchanges) std::ranges::shuffle(with, dice);
        add_loop(calls, Exchange(i % kExchanges), iteration, with, dice);
        calls.push_back(call(kAllreduce, 0x2000, iteration, kEverybody));
      }
      const auto steps = by_iteration(calls);
      ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
      for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration);
    }
  }
}

/// Some ranks change partners from step to step, and others do not: whoever meets everybody, or the same one, in each of
/// them knows that these are the steps.
TEST(StepFinder, PartnersThatChangeFromStepToStepAreNoLoopWhereSomebodyIsMetInEach) {
  for (const bool meets_all : {true, false}) {
    Calls calls;
    for (int i = 0; i < kIterations; ++i) {
      calls.push_back(call(kSendrecv, 0x1000, i, peers_of(i % 3, i % 3)));
      calls.push_back(meets_all ? call(kAllreduce, 0x2000, i, kEverybody) : call(kRecv, 0x2000, i, peers_of(-1, 7)));
    }
    const auto steps = by_iteration(calls);
    ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
    for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration);
  }
}

/// As in rounds of a game: each is a step, if the rank works in each.
TEST(StepFinder, PartnersThatChangeFromStepToStepAreNoLoopWhereARankWorksInEach) {
  std::mt19937 dice(any_seed());
  for (int exchange = 0; exchange < kExchanges; ++exchange) {
    Calls calls;
    for (int i = 0; i < kIterations; ++i)
      add_round(calls, Exchange(exchange), i, i % 3, kWork * std::uniform_int_distribution(3, 5)(dice));
    const auto steps = by_iteration(calls);
    ASSERT_GE(steps.size(), std::size_t(kIterations - kUnknown));
    for (const auto& [iteration, step] : steps) ASSERT_EQ(step, iteration);
  }
}

/// As a server answers: each round is a step at last, as for those who ask.
TEST(StepFinder, PartnersWithoutOrderAreTakenAsTheyCome) {
  std::mt19937 dice(any_seed());
  Calls calls;
  for (int i = 0; i < 4 * kIterations; ++i) add_round(calls, Exchange::kOneAfterTheOther, i, int(dice() % 50), kWork);
  const auto steps = by_iteration(calls);
  ASSERT_GE(steps.size(), std::size_t(2 * kIterations));
  for (const auto& [iteration, step] : steps) EXPECT_EQ(step, iteration);
}

TEST(StepFinder, CallsWithoutOrderHaveNoSteps) {
  std::mt19937 dice(any_seed());
  Calls calls;
  for (int i = 0; i < 20000; ++i) calls.push_back(call(kRecv, 0x10000 + 0x10000 * (dice() % 20)));
  EXPECT_THAT(steps_of(calls).size(), testing::Lt(20000u / 10));
}

TEST(StepFinder, MorePlacesThanItKnowsDoNotHarmIt) {
  Calls calls;
  for (std::uintptr_t i = 1; i < 5000; ++i) calls.push_back(call(i % 2 ? kRecv : kIsend, 16 * i));
  EXPECT_THAT(steps_of(calls), testing::IsEmpty());
}

}  // namespace
}  // namespace idlewave::mpi
