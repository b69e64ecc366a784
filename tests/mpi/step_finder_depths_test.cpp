// Steps of programs whose messages and sums are sent and taken by a library of their own, at the same few addresses for whoever
// calls it; and of those whose stack is another one at each call. Which iteration a call belongs to is known as the program is
// made.

#include <gtest/gtest.h>

#include <map>
#include <ostream>
#include <random>
#include <vector>

#include "tests/any_seed.h"
#include "tests/mpi/called_places.h"

namespace idlewave::mpi::habits {
namespace {

constexpr int kRanksOfFlow = 5;
constexpr std::uintptr_t kReceive = 0x400000, kSendOff = 0x410000, kComplete = 0x420000, kSum = 0x430000,
                         kHandOut = 0x440000;

/// Time steps of a flow solver: velocities are smoothed, and pressures found by conjugate gradients, in as many iterations as it
/// takes, the same in all ranks.
class Flow {
 public:
  explicit Flow(unsigned seed) : dice_(seed) {
    smooths_first_ = up_to(2) == 1 ? up_to(20) : 0;
    sums_of_gradients_ = 1 + up_to(3);
    exchanges_of_smoother_ = 1 + up_to(2);
    for (int i = 0; i < kTimeSteps; ++i) smoothed_.push_back(5 + up_to(25));
    for (int i = 0; i < kTimeSteps; ++i) gradients_.push_back(90 + up_to(100));
    for (int rank = 0; rank < kRanksOfFlow; ++rank) set_up_.push_back(up_to(2) == 1 ? up_to(60) : 0);
  }

  Calls run(int rank) const {
    Calls calls;
    for (int i = 0; i < set_up_[std::size_t(rank)]; ++i)
      add(calls, kSend, kHandOut, 0x6000, kNoIteration, peers_of(1, -1));
    for (int i = 0; i < smooths_first_; ++i) smooth(rank, calls);
    int iteration = 0;
    for (int step = 0; step < kTimeSteps; ++step) {
      for (int i = 0; i < smoothed_[std::size_t(step)]; ++i) smooth(rank, calls);
      for (int i = 0; i < gradients_[std::size_t(step)]; ++i) gradients(rank, iteration++, calls);
      add(calls, kAllreduce, kSum, 0x6800, kNoIteration, kEverybody);
    }
    return calls;
  }
  int iterations_until(int time_step) const {
    int iterations = 0;
    for (int i = 0; i < time_step; ++i) iterations += gradients_[std::size_t(i)];
    return iterations;
  }
  friend std::ostream& operator<<(std::ostream& stream, const Flow& flow) {
    return stream << flow.exchanges_of_smoother_ << " exchanges to smooth, " << flow.sums_of_gradients_
                  << " sums, smooths first " << flow.smooths_first_;
  }

  static constexpr int kTimeSteps = 12;

 private:
  static void add(Calls& calls, Function function, std::uintptr_t place, std::uintptr_t frame, int iteration,
                  Peers peers = kNobody) {
    calls.push_back(call(function, place, iteration, peers));
    calls.back().site.frame = frame;
    calls.back().work = wire::Nanoseconds{20'000};
  }
  static void exchange(int rank, std::uintptr_t frame, int iteration, Calls& calls) {
    for (int i = 0; i <= rank; ++i) add(calls, kIrecv, kReceive, frame, iteration, peers_of(-1, rank + i + 1));
    for (int i = 0; i <= rank; ++i) add(calls, kIsend, kSendOff, frame, iteration, peers_of(rank + i + 1, -1));
    add(calls, kWaitall, kComplete, frame, iteration);
  }
  void smooth(int rank, Calls& calls) const {
    for (int i = 0; i < exchanges_of_smoother_; ++i) exchange(rank, 0x7000, kNoIteration, calls);
    add(calls, kAllreduce, kSum, 0x7000, kNoIteration, kEverybody);
  }
  void gradients(int rank, int iteration, Calls& calls) const {
    exchange(rank, 0x7400, iteration, calls);
    for (int i = 0; i < sums_of_gradients_; ++i) add(calls, kAllreduce, kSum, 0x7400, iteration, kEverybody);
  }

  int up_to(int most) { return std::uniform_int_distribution<>(1, most)(dice_); }

  std::mt19937 dice_;
  int smooths_first_ = 0, sums_of_gradients_ = 0, exchanges_of_smoother_ = 0;
  std::vector<int> smoothed_, gradients_, set_up_;
};

/// The numbers of the steps that have begun in each of the solver's iterations from `first` on.
std::map<int, std::vector<Step>> in_iterations(const Calls& calls, int first) {
  std::map<int, std::vector<Step>> found;
  for (const Seen& seen : steps_of(calls))
    if (calls[seen.call].iteration >= first) found[calls[seen.call].iteration].push_back(seen.step);
  return found;
}

TEST(StepFinder, IterationsOfASolverAreStepsOfAllRanksThoughOthersCallTheSameLibrary) {
  const unsigned first = any_seed();
  for (unsigned seed = first; seed != first + 40; ++seed) {
    const Flow flow(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << flow);
    const int settled = flow.iterations_until(Flow::kTimeSteps / 2), all = flow.iterations_until(Flow::kTimeSteps);
    const std::map<int, std::vector<Step>> of_first = in_iterations(flow.run(0), settled);
    EXPECT_EQ(of_first.size(), std::size_t(all - settled));
    for (const auto& [iteration, steps] : of_first) ASSERT_EQ(steps.size(), 1u) << "iteration " << iteration;
    for (int rank = 1; rank < kRanksOfFlow; ++rank)
      EXPECT_TRUE(in_iterations(flow.run(rank), settled) == of_first) << "rank " << rank;
  }
}

/// A step for each, from one on that is known by then.
void expect_iterations(const Calls& calls, int known, int iterations) {
  const std::map<int, Step> found = by_iteration(calls);
  for (int i = known; i < iterations; ++i) {
    const auto step = found.find(i);
    ASSERT_NE(step, found.end()) << "iteration " << i;
    EXPECT_EQ(step->second, i);
  }
}

TEST(StepFinder, AStackThatIsAnotherOneAtEachCallHidesNoSteps) {
  const unsigned first = any_seed();
  for (unsigned seed = first; seed != first + 40; ++seed) {
    std::mt19937 dice(seed);
    const std::uintptr_t depths = dice() % 2 == 0 ? 40 + dice() % 20 : 4000;
    const int receives = 1 + int(dice() % 4), iterations = 2000;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": depths " << depths << ", receives " << receives);
    Calls calls;
    for (int i = 0; i < iterations; ++i) {
      for (int n = 0; n < receives; ++n)
        calls.push_back(call(kIrecv, 0x400000 + 0x10000 * std::uintptr_t(n), i, peers_of(-1, n)));
      for (int n = 0; n < receives; ++n)
        calls.push_back(call(kIsend, 0x500000 + 0x10000 * std::uintptr_t(n), i, peers_of(n, -1)));
      calls.push_back(call(kWaitall, 0x600000, i));
      calls.push_back(call(kAllreduce, 0x610000, i, kEverybody));
      const std::uintptr_t frame = 0x7000 + 16 * (dice() % depths);
      for (std::size_t behind = calls.size() - 2 * std::size_t(receives) - 2; behind < calls.size(); ++behind)
        calls[behind].site.frame = dice() % 4 == 0 ? 0x7000 + 16 * (dice() % depths) : frame;
    }
    expect_iterations(calls, iterations / 2, iterations);
  }
}

}  // namespace
}  // namespace idlewave::mpi::habits
