// Steps of ranks with neighbours of their own number, which meet all now and then: whatever each calls in an iteration, and
// came to before, they count alike. Which iteration a call belongs to is known as the program is made.

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <random>
#include <vector>

#include "tests/any_seed.h"
#include "tests/mpi/called_places.h"

namespace idlewave::mpi::habits {
namespace {

/// How a rank exchanges with its neighbours in an iteration.
enum class Halo {
  kPlaceEach,          ///< A receive and a send at a place of its own for each neighbour, and all waited for.
  kReceivesThenSends,  ///< In two loops, and all waited for.
  kInTurns,            ///< In one loop, and all waited for.
  kOneByOne,           ///< The same, waited for one by one.
  kEachAlone,          ///< In one loop, in which each is waited for.
  kBlocking,           ///< One call at a place of its own for each neighbour.
  kBlockingInLoop,     ///< One call at one place for each neighbour.
  kSendThenReceive,    ///< Two calls at places of their own for each neighbour.
  kPersistent          ///< Two calls, however many neighbours there are.
};
constexpr int kHalos = 9;
constexpr int kRanks = 7;
constexpr wire::Nanoseconds kIterationWork{1'000'000};
constexpr std::uintptr_t kEachPlace = 0x40000;

class Solver {
 public:
  explicit Solver(unsigned seed) : dice_(seed) {
    halo_ = Halo(up_to(kHalos) - 1);
    every_ = 1 + up_to(63);
    reductions_ = up_to(2);
    computes_norm_first_ = up_to(2) == 1;
    warm_up_ = up_to(3) == 1 ? 20 + up_to(30) : 0;
    warms_up_with_its_own_calls_ = up_to(2) == 1;
    sets_up_in_loop_ = up_to(3) == 1;
    one_sets_up_ = up_to(3) == 1 && !keeps_iterations();
  }

  /// Of rank `rank`, which has one neighbour, two and so on. How long it works differs a little.
  Calls run(int rank, int iterations) {
    Calls calls;
    std::mt19937 dice(dice_());
    if (sets_up_in_loop_)
      for (int i = 0; i < 40; ++i) set_up(calls);
    if (one_sets_up_ && rank == 0)
      for (int i = 0; i < 40; ++i) calls.push_back(call(kSend, 0x900000, kNoIteration, peers_of(1, -1)));
    if (computes_norm_first_) reduce(kNoIteration, calls);
    for (int i = 0; i < warm_up_; ++i)
      exchange(rank, kNoIteration, warms_up_with_its_own_calls_ ? 0x500000 : 0, dice, calls);
    for (int i = 0; i < iterations; ++i) {
      exchange(rank, i, 0, dice, calls);
      if (i % every_ == every_ - 1) reduce(i, calls);
    }
    return calls;
  }

  int every() const { return every_; }
  int steps_of_block() const { return every_ >= kIterationsOfLoop || keeps_iterations() ? every_ : 1; }
  bool ends_block(const Called& called) const {
    return called.peers == kEverybody && called.iteration != kNoIteration &&
           called.site.place == kReductions + 0x10000 * std::uintptr_t(reductions_ - 1);
  }
  friend std::ostream& operator<<(std::ostream& stream, const Solver& solver) {
    return stream << "halo " << int(solver.halo_) << ", " << solver.reductions_ << " reductions every " << solver.every_
                  << ", norm first " << solver.computes_norm_first_ << ", warm-up " << solver.warm_up_ << " own "
                  << solver.warms_up_with_its_own_calls_ << ", set-up " << solver.sets_up_in_loop_ << ", of one "
                  << solver.one_sets_up_;
  }

 private:
  static constexpr std::uintptr_t kReductions = 0x2000000;
  static constexpr int kIterationsOfLoop = 5;  ///< Between two reductions, which are steps then.

  /// Steps since before the first reduction, from the same calls.
  bool keeps_iterations() const { return warm_up_ > 0 && !warms_up_with_its_own_calls_ && !sets_up_in_loop_; }

  void set_up(Calls& calls) const {
    calls.push_back(call(kBarrier, 0xa00000, kNoIteration, kEverybody));
    calls.push_back(call(kAllreduce, 0xa10000, kNoIteration, kEverybody));
  }
  void reduce(int iteration, Calls& calls) const {
    for (int i = 0; i < reductions_; ++i)
      calls.push_back(call(kAllreduce, kReductions + 0x10000 * std::uintptr_t(i), iteration, kEverybody));
  }

  void exchange(int rank, int iteration, std::uintptr_t elsewhere, std::mt19937& dice, Calls& calls) const {
    const std::size_t first = calls.size();
    const std::uintptr_t place = 0x1000000 + elsewhere;
    const int neighbours = 1 + rank % 6;
    const auto add = [&](Function function, std::uintptr_t where, Peers peers = kNobody) {
      calls.push_back(call(function, where, iteration, peers));
    };
    for (int i = 0; i < neighbours; ++i) {
      // From the last one on, as ranks at the ends of a chain may have the second of two.
      const std::uintptr_t own = place + kEachPlace * std::uintptr_t(5 - i);
      const int other = (rank + i + 1) % 20;
      const Peers to = peers_of(other, -1), from = peers_of(-1, other), both = peers_of(other, other);
      switch (halo_) {
        case Halo::kPlaceEach: add(kIrecv, own, from), add(kIsend, own + 0x10000, to); break;
        case Halo::kReceivesThenSends: add(kIrecv, place, from); break;
        case Halo::kInTurns:
        case Halo::kOneByOne: add(kIrecv, place, from), add(kIsend, place + 0x10000, to); break;
        case Halo::kEachAlone:
          add(kIrecv, place, from), add(kIsend, place + 0x10000, to), add(kWaitall, place + 0x20000);
          break;
        case Halo::kBlocking: add(kSendrecv, own, both); break;
        case Halo::kBlockingInLoop: add(kSendrecv, place, both); break;
        case Halo::kSendThenReceive: add(kSend, own, to), add(kRecv, own + 0x10000, from); break;
        case Halo::kPersistent: break;
      }
    }
    const std::uintptr_t behind = place + 0x800000;
    if (halo_ == Halo::kReceivesThenSends)
      for (int i = 0; i < neighbours; ++i) add(kIsend, place + 0x10000, peers_of((rank + i + 1) % 20, -1));
    if (halo_ == Halo::kPersistent) add(kIsend, place);
    if (halo_ == Halo::kOneByOne)
      for (int i = 0; i < 2 * neighbours; ++i) add(kWait, behind);
    else if (halo_ <= Halo::kInTurns || halo_ == Halo::kPersistent)
      add(kWaitall, behind);
    calls[first].work = kIterationWork * std::uniform_int_distribution(10, 15)(dice);
  }

  int up_to(int most) { return std::uniform_int_distribution<>(1, most)(dice_); }

  std::mt19937 dice_;
  Halo halo_{};
  int every_ = 0, reductions_ = 0, warm_up_ = 0;
  bool computes_norm_first_ = false, warms_up_with_its_own_calls_ = false, sets_up_in_loop_ = false,
       one_sets_up_ = false;
};

/// The steps that have begun behind each time that all meet; by the iteration behind which they do.
std::map<int, Step> at_reductions(const Solver& solver, const Calls& calls) {
  const std::vector<Seen> steps = steps_of(calls);
  std::map<int, Step> found;
  std::size_t next = 0;
  Step last = wire::kNoStep;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    for (; next < steps.size() && steps[next].call <= i; ++next) {
      EXPECT_GT(steps[next].step, last);
      last = steps[next].step;
    }
    if (solver.ends_block(calls[i])) found[calls[i].iteration] = last;
  }
  return found;
}

TEST(StepFinder, RanksWithFewNeighboursAndManyAgreeWhereAllMeetNowAndThen) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  constexpr int kAll = 3000, kLate = 1800;
  for (unsigned seed = first; seed != first + 100; ++seed) {
    Solver solver(seed);
    SCOPED_TRACE(testing::Message() << seed << ": " << solver);
    std::map<int, Step> of_first;
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::map<int, Step> found = at_reductions(solver, solver.run(rank, kAll));
      if (rank == 0) of_first = found;
      ASSERT_TRUE(!found.empty() && found.rbegin()->first >= kLate) << "rank " << rank;
      for (const auto& [iteration, step] : found) {
        if (iteration < kLate) continue;
        ASSERT_EQ(step, of_first.at(iteration)) << "rank " << rank << ", iteration " << iteration;
        const Step before = found.at(iteration - solver.every());
        ASSERT_EQ(step - before, solver.steps_of_block()) << "rank " << rank << ", iteration " << iteration;
      }
    }
  }
}

/// The end of a chain makes three calls an iteration, and the other ranks five.
TEST(StepFinder, AChainThatMeetsAllEveryFiveIterationsHasItsIterationsForSteps) {
  std::map<int, Step> at_end, inside;
  for (const int neighbours : {1, 2}) {
    Calls calls;
    for (int i = 0; i < kIterations; ++i) {
      for (int k = 0; k < neighbours; ++k) {
        const std::uintptr_t place = 0x1000 + kEachPlace * std::uintptr_t(k);
        calls.push_back(call(kIrecv, place, i, peers_of(-1, k)));
        if (k == 0) calls.back().work = kIterationWork;
        calls.push_back(call(kIsend, place + 0x100, i, peers_of(k, -1)));
      }
      calls.push_back(call(kWaitall, 0x1000000, i));
      if (i % 5 == 4) calls.push_back(call(kAllreduce, 0x2000000, i, kEverybody));
    }
    (neighbours == 1 ? at_end : inside) = by_iteration(calls);
  }
  for (int i = 2 * kUnknown; i < kIterations; ++i) {
    EXPECT_EQ(at_end[i], i);
    EXPECT_EQ(inside[i], i);
  }
}

/// A loop within another is known before it has come as often as a short one had before, and some ranks look for longer than
/// others until it has.
TEST(StepFinder, RanksHaveTheirIterationsForStepsWhateverShortLoopsCameBefore) {
  constexpr int kEvery = 5, kAll = 400;
  constexpr std::uintptr_t kOwn = 0x500000;
  for (const int set_up : {10, 25, 40, 60}) {
    std::map<int, Step> of_first;
    for (const int neighbours : {1, 2, 3, 4, 5, 6}) {
      SCOPED_TRACE(testing::Message() << set_up << " steps before, " << neighbours << " neighbours");
      Calls calls;
      const auto exchange = [&](std::uintptr_t place, int iteration) {
        for (int k = 0; k < neighbours; ++k) calls.push_back(call(kSendrecv, place, iteration, peers_of(k, k)));
        calls[calls.size() - std::size_t(neighbours)].work = kIterationWork;
      };
      for (int i = 0; i < set_up; ++i)
        for (const std::uintptr_t place : {0xa00000, 0xa10000})
          calls.push_back(call(kAllreduce, place, i - set_up, kEverybody));
      for (int i = 0; i < 45; ++i) exchange(kOwn, kNoIteration);
      for (int i = 0; i < kAll; ++i) {
        exchange(0x1000000, i);
        if (i % kEvery == kEvery - 1)
          for (const std::uintptr_t place : {0x2000000, 0x2010000})
            calls.push_back(call(kAllreduce, place, i, kEverybody));
      }
      const std::map<int, Step> steps = by_iteration(calls);
      if (of_first.empty()) of_first = steps;
      for (int i = kAll / 2; i < kAll; ++i) {
        ASSERT_TRUE(steps.contains(i)) << i;
        ASSERT_EQ(steps.at(i), of_first.at(i));
      }
    }
  }
}

/// Of an iteration in stages, in each of which it waits for its requests one by one, at one place: those that it receives with and
/// those that it sends with, as many as are wanted there, in an order of its own.
Calls staged(std::mt19937 dice, int stages, int iterations) {
  enum class Starts { kReceives, kSends, kBoth };
  struct Stage {
    Starts starts;
    int requests;
  };
  std::vector<Stage> each;
  for (int i = 0; i < stages; ++i) each.push_back({Starts(dice() % 3), 1 + int(dice() % 4)});
  Calls calls;
  for (int stage = 0; stage < stages * iterations; ++stage) {
    const auto [starts, requests] = each[std::size_t(stage % stages)];
    const std::size_t first = calls.size();
    for (int i = 0; starts != Starts::kSends && i < requests; ++i)
      calls.push_back(call(kIrecv, 0x400000, stage, peers_of(-1, i)));
    for (int i = 0; starts != Starts::kReceives && i < requests; ++i)
      calls.push_back(call(kIsend, 0x410000, stage, peers_of(i, -1)));
    for (int i = 0; i < (starts == Starts::kBoth ? 2 : 1) * requests; ++i)
      calls.push_back(call(kWait, 0x420000, stage));
    calls[first].work = kIterationWork * std::uniform_int_distribution(10, 15)(dice);
  }
  return calls;
}

TEST(StepFinder, RanksThatStartOtherRequestsInEachStageAgreeOnStages) {
  const unsigned first = any_seed();
  for (unsigned seed = first; seed != first + 60; ++seed) {
    std::mt19937 dice(seed);
    const int stages = 2 + int(dice() % 4), iterations = 60;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": stages " << stages);
    for (int rank = 0; rank < kRanks; ++rank) {
      const std::map<int, Step> found = by_iteration(staged(std::mt19937(dice()), stages, iterations));
      for (int stage = 20 * stages; stage < (iterations - 1) * stages; ++stage) {
        ASSERT_TRUE(found.contains(stage)) << "rank " << rank << ", stage " << stage;
        ASSERT_EQ(found.at(stage), stage) << "rank " << rank;
      }
    }
  }
}

/// A master gives a task to whoever asks, now in turns and now not. That they took turns at first is by chance.
TEST(StepFinder, WhoGivesToWhoeverAsksHasAStepForEachWhetherTheyTakeTurnsOrNot) {
  constexpr int kTasks = 400;
  const unsigned seed = any_seed();
  std::mt19937 dice(seed);
  for (int program = 0; program < 100; ++program) {
    const int workers = 2 + int(dice() % 6), in_turns = int(dice() % kTasks);
    Calls calls;
    for (int task = 0; task < kTasks; ++task) {
      const int worker = 1 + (task < in_turns ? task : int(dice() >> 1)) % workers;
      calls.push_back(call(kProbe, 0x400000, task, kWhoeverComes));
      calls.push_back(call(kRecv, 0x410000, task, peers_of(-1, worker)));
      calls.push_back(call(kSend, 0x420000, task, peers_of(worker, -1)));
    }
    const std::map<int, Step> found = by_iteration(calls);
    for (int task = kTasks / 2; task < kTasks - 1; ++task) {
      ASSERT_TRUE(found.contains(task)) << "seed " << seed << ", program " << program << ", task " << task;
      ASSERT_EQ(found.at(task), task) << "seed " << seed << ", program " << program;
    }
  }
}

}  // namespace
}  // namespace idlewave::mpi::habits
