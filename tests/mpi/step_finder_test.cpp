// Steps of programs that are made at random: what comes before their loop, how many calls it has, how often they write
// a checkpoint. Every call has its place; a place may be called several times in a step.

#include "probe/mpi/step_finder.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <vector>

namespace idlewave::mpi {
namespace {

using wire::Step;
using Places = std::vector<std::uintptr_t>;

struct Seen {
  Step step;
  std::size_t call;  ///< With whose end it begins.
};

std::vector<Seen> steps_of(const Places& calls) {
  StepFinder finder;
  std::vector<Seen> seen;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (const Step step = finder.leave(calls[i]); step != wire::kNoStep) seen.push_back({step, i});
  return seen;
}

class Program {
 public:
  explicit Program(unsigned seed) : dice_(seed) {
    calls_in_step_ = up_to(12);
    for (std::size_t i = 0; i < calls_in_step_; ++i) body_.push_back(new_place());
    // Places that are called again and again within the step, as in a sweep.
    for (std::size_t i = up_to(6); i > 1 && body_.size() > 1; --i)
      body_.insert(body_.begin() + std::ptrdiff_t(up_to(body_.size()) - 1), body_[0]);
    checkpoint_ = {new_place(), new_place()};
    checkpoint_every_ = 17 + up_to(20);
  }

  /// `before`: calls that this rank makes before the loop, none of them in a row of four the same.
  Places run(std::size_t before, std::size_t steps) {
    Places calls;
    for (std::size_t i = 0; i < before; ++i) calls.push_back(0x900000 + 16 * i);
    for (std::size_t step = 0; step < steps; ++step) {
      calls.insert(calls.end(), body_.begin(), body_.end());
      if ((step + 1) % checkpoint_every_ == 0) calls.insert(calls.end(), checkpoint_.begin(), checkpoint_.end());
    }
    return calls;
  }

  std::size_t calls_in_step() const { return body_.size(); }

 private:
  std::size_t up_to(std::size_t most) { return std::uniform_int_distribution<std::size_t>(1, most)(dice_); }
  std::uintptr_t new_place() { return next_place_ += 16 * up_to(100); }

  std::mt19937 dice_;
  std::uintptr_t next_place_ = 0x400000;
  std::size_t calls_in_step_ = 0;
  Places body_, checkpoint_;
  std::size_t checkpoint_every_ = 0;
};

TEST(StepFinder, StepsOfRandomProgramsAreFoundAndNumberedByTheirLoop) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 300; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    constexpr std::size_t kSteps = 80;
    const Places calls = program.run(seed % 40, kSteps);
    const auto seen = steps_of(calls);
    const std::size_t unknown = std::max<std::size_t>(4, 16 / program.calls_in_step() + 1);  // until it is believed
    ASSERT_GE(seen.size(), kSteps - unknown);
    const std::uintptr_t anchor = calls[seen.front().call];
    Step number = -1;
    std::size_t next = 0;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      number += calls[i] == anchor;
      if (next < seen.size() && seen[next].call == i) {
        EXPECT_EQ(calls[i], anchor);
        EXPECT_EQ(seen[next].step, number);  // so many times had it been left before
        ++next;
      }
    }
    EXPECT_EQ(number, Step{kSteps} - 1) << "a place that is left once in a step";
  }
}

TEST(StepFinder, RanksAgreeWhateverEachDoesBeforehand) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 100; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed);
    const Places one = program.run(0, 40), other = program.run(25, 40);
    const auto seen = steps_of(one), seen_by_other = steps_of(other);
    ASSERT_FALSE(seen.empty());
    ASSERT_FALSE(seen_by_other.empty());
    EXPECT_EQ(seen.back().step, seen_by_other.back().step);
    EXPECT_EQ(one[seen.back().call], other[seen_by_other.back().call]);
  }
}

TEST(StepFinder, AProgramThatGoesOnToAnotherLoopIsFollowedAndNumbersGoOn) {
  Places calls;
  for (int i = 0; i < 100; ++i) calls.insert(calls.end(), {0x1000, 0x2000});
  for (int i = 0; i < 30000; ++i) calls.insert(calls.end(), {0x3000, 0x4000, 0x5000});
  const auto seen = steps_of(calls);
  ASSERT_FALSE(seen.empty());
  Step before = -1;
  for (const Seen& one : seen) {
    EXPECT_GT(one.step, before);
    before = one.step;
  }
  EXPECT_EQ(calls[seen.back().call], 0x5000u);
  EXPECT_EQ(calls[seen.front().call], 0x2000u);
}

TEST(StepFinder, CallsWithoutOrderHaveNoSteps) {
  std::mt19937 dice(1);
  Places calls;
  for (int i = 0; i < 20000; ++i) calls.push_back(0x1000 + 16 * (dice() % 20));
  EXPECT_THAT(steps_of(calls).size(), testing::Lt(20000u / 10));
}

TEST(StepFinder, MorePlacesThanItKnowsDoNotHarmIt) {
  Places calls;
  for (std::uintptr_t i = 1; i < 5000; ++i) calls.push_back(16 * i);
  EXPECT_THAT(steps_of(calls), testing::IsEmpty());
}

}  // namespace
}  // namespace idlewave::mpi
