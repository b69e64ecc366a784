// Steps of loops over partners: within the steps of a program, or as these.

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/any_seed.h"
#include "tests/mpi/called_places.h"

namespace idlewave::mpi::habits {
namespace {

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

/// Exchanges with one neighbour after the other, by three calls each, in two or three loops of their own. Before its
/// iterations the program has come to the loops in any order; now and then an iteration does something else than the first.
class ExchangesInLoops {
 public:
  explicit ExchangesInLoops(unsigned seed) : dice_(seed) {
    for (int loop = up_to(2) + 1; loop > 0; --loop) loops_.push_back(new_place());
    order_ = loops_;
    std::ranges::shuffle(order_, dice_);
    rebuilt_every_ = 15 + up_to(20);
    rebuild_ = new_place();
  }

  /// A rank with so many neighbours; in some iterations one fewer, of each loop.
  Calls run(int neighbours, int iterations, const std::set<int>& with_fewer = {}) const {
    Calls calls;
    for (const std::uintptr_t loop : order_) exchange(loop, neighbours, kNoIteration, calls);
    for (int iteration = 0; iteration < iterations; ++iteration) {
      const int partners = neighbours - int(with_fewer.contains(iteration));
      for (const std::uintptr_t loop : loops_) {
        if (is_rebuilt(iteration) && loop == loops_.front())
          for (int i = 0; i < 6; ++i) calls.push_back(call(kSendrecv, rebuild_ + 16 * std::uintptr_t(i), iteration));
        else
          exchange(loop, partners, iteration, calls);
      }
    }
    return calls;
  }
  bool is_rebuilt(int iteration) const { return iteration % rebuilt_every_ == rebuilt_every_ - 1; }

 private:
  static void exchange(std::uintptr_t loop, int neighbours, int iteration, Calls& calls) {
    for (int i = 0; i < neighbours; ++i)
      for (const auto& [function, offset] : {std::pair(kIrecv, 0), {kSend, 16}, {kWait, 32}})
        calls.push_back(call(function, loop + std::uintptr_t(offset), iteration, peers_of(i, i)));
  }
  int up_to(int most) { return std::uniform_int_distribution<>(1, most)(dice_); }
  std::uintptr_t new_place() { return next_place_ += 0x10000 * std::uintptr_t(up_to(100)); }

  std::mt19937 dice_;
  std::uintptr_t next_place_ = 0x400000;
  std::vector<std::uintptr_t> loops_, order_;
  int rebuilt_every_ = 0;
  std::uintptr_t rebuild_ = 0;
};

TEST(StepFinder, WhereAnIterationComesToEachPlaceSeveralTimesItIsAStep) {
  const unsigned first_seed = any_seed();
  for (unsigned seed = first_seed; seed != first_seed + 100; ++seed) {
    SCOPED_TRACE(seed);
    const ExchangesInLoops program(seed);
    std::map<int, Step> first;
    for (const int neighbours : {2, 1, 3, 6}) {
      const std::map<int, Step> found = by_iteration(program.run(neighbours, 100));
      for (int iteration = 20; iteration < 100; ++iteration) {
        EXPECT_TRUE(found.contains(iteration) || program.is_rebuilt(iteration)) << neighbours << ' ' << iteration;
      }
      if (first.empty()) first = found;
      for (const auto& [iteration, step] : found) {
        EXPECT_EQ(first.emplace(iteration, step).first->second, step) << neighbours << ' ' << iteration;
      }
    }
  }
}

TEST(StepFinder, AnIterationInWhichFewerExchangeThanUsualIsAStepAllTheSame) {
  const unsigned first_seed = any_seed();
  for (unsigned seed = first_seed; seed != first_seed + 100; ++seed) {
    SCOPED_TRACE(seed);
    const ExchangesInLoops program(seed);
    std::mt19937 dice(seed);
    // None before one that goes on with another call that waits: then the step begins behind that.
    std::set<int> with_fewer;
    for (int i = 0; i < 10; ++i) with_fewer.insert(std::uniform_int_distribution<>(30, 98)(dice));
    std::erase_if(with_fewer, [&](int iteration) { return program.is_rebuilt(iteration + 1); });
    const std::map<int, Step> as_usual = by_iteration(program.run(3, 100));
    const std::map<int, Step> found = by_iteration(program.run(3, 100, with_fewer));
    EXPECT_EQ(found, as_usual);
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

/// Programs of a few loops by chance: rows, calls of everybody, and now and then something else.
Calls any_program(std::mt19937& dice) {
  const auto one_of = [&dice](std::uint32_t count) { return static_cast<std::uint32_t>(dice() % count); };
  constexpr Function kFunctions[] = {kBarrier, kSendrecv, kRecv, kSend,    kAllreduce,
                                     kIrecv,   kIsend,    kWait, kWaitall, kWaitsome};
  Calls calls;
  for (std::uint32_t loop = 0; loop < 4; ++loop) {
    Calls body;
    for (std::uint32_t i = 0, places = 1 + one_of(24); i < places; ++i) {
      const Peers peers =
          one_of(5) == 0 ? kEverybody : peers_of(static_cast<int>(one_of(4)), static_cast<int>(one_of(4)));
      const Called made = call(kFunctions[one_of(10)], 0x40 * (1 + one_of(60)), kNoIteration, peers);
      for (std::uint32_t times = one_of(4) == 0 ? 1 + one_of(6) : 1; times > 0; --times) body.push_back(made);
    }
    for (std::uint32_t round = 0, rounds = 10 + one_of(200); round < rounds; ++round) {
      for (const Called& made : body)
        if (one_of(500) != 0) calls.push_back(made);
      if (one_of(40) == 0) calls.push_back(call(kRecv, 0x10000 + 0x40 * one_of(20)));
    }
  }
  return calls;
}

TEST(StepFinder, FindsTheSameByItsShortWays) {
  std::mt19937 dice(any_seed());
  std::size_t found = 0;
  for (int program = 0; program < 40; ++program) {
    const Calls calls = any_program(dice);
    const std::vector<Seen> steps = steps_of(calls, Way::kLong);
    found += steps.size();
    ASSERT_EQ(steps_of(calls), steps) << "program " << program;
  }
  EXPECT_GT(found, 100u);
}

}  // namespace
}  // namespace idlewave::mpi::habits
