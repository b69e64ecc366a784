// Steps of programs that leave one of their exchanges out of an iteration now and then, as molecular dynamics does when it
// builds its lists of neighbours anew. Which iteration a call belongs to is known as the program is made.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "tests/any_seed.h"
#include "tests/mpi/called_places.h"

namespace idlewave::mpi::habits {
namespace {

constexpr int kAll = 500, kSought = 30, kSettled = 320;  ///< Iterations.

/// How one exchange with a neighbour is written.
enum class Message { kRequestAndSend, kBothRequests, kBlocking, kSendThenReceive };
constexpr int kMessages = 4;

class Dynamics {
 public:
  /// Whether an iteration leaves an exchange out. kRegularly: the same one every few iterations; kByChance: any of some.
  /// Others take its place, so that what is called in a row is of one iteration.
  enum class Leaves { kRegularly, kByChance };

  explicit Dynamics(unsigned seed, Leaves leaves) : dice_(seed) {
    const int exchanges = 1 + up_to(leaves == Leaves::kRegularly ? 2 : 3);
    message_ = Message(up_to(kMessages) - 1);
    is_one_place_ = up_to(2) == 1;
    for (int i = 0; i < exchanges; ++i) exchanges_.push_back(new_place());
    rebuild_ = new_place();
    every_ = 5 + up_to(30);
    if (leaves == Leaves::kRegularly)
      leave_out_regularly();
    else
      leave_out_by_chance();
    for (std::size_t i = 0; i < exchanges_.size(); ++i)
      if (up_to(2) == 1) set_up_.push_back(i);
    std::ranges::shuffle(set_up_, dice_);
    // A rank that has been in another loop looks for one that comes 64 times running, which by chance hardly one does.
    reads_for_others_ = leaves == Leaves::kRegularly && up_to(2) == 1;
  }

  Calls run(int rank) const {
    Calls calls;
    const int neighbours = 1 + rank % 6;
    if (reads_for_others_ && rank == 0)
      for (int i = 0; i < 60; ++i) calls.push_back(call(kSend, 0x20000, kNoIteration, peers_of(1, -1)));
    for (const std::size_t i : set_up_) exchange(exchanges_[i], neighbours, kNoIteration, calls);
    calls.push_back(call(kBarrier, 0x10000, kNoIteration, kEverybody));
    for (int iteration = 0; iteration < kAll; ++iteration) {
      for (std::size_t i = 0; i < exchanges_.size(); ++i) {
        const auto left_out = left_out_.find({iteration, i});
        if (left_out == left_out_.end()) {
          exchange(exchanges_[i], neighbours, iteration, calls);
        } else {
          for (std::uintptr_t k = 0; k < left_out->second; ++k)
            exchange(rebuild_ + 0x1000 * k, neighbours, iteration, calls);
        }
      }
    }
    return calls;
  }

  friend std::ostream& operator<<(std::ostream& stream, const Dynamics& program) {
    stream << program.exchanges_.size() << " exchanges, message " << int(program.message_) << ", one place "
           << program.is_one_place_ << ", every " << program.every_ << ", left out " << program.left_out_.size()
           << " times, set up:";
    for (const std::size_t i : program.set_up_) stream << ' ' << i;
    return stream << ", one reads " << program.reads_for_others_;
  }

 private:
  void exchange(std::uintptr_t first_place, int neighbours, int iteration, Calls& calls) const {
    for (int k = 0; k < neighbours; ++k) {
      const std::uintptr_t place = first_place + (is_one_place_ ? 0 : 0x100 * std::uintptr_t(k));
      const Peers to = peers_of(k, -1), from = peers_of(-1, k), both = peers_of(k, k);
      const std::size_t first = calls.size();
      const auto add = [&](Function function, std::uintptr_t behind, Peers peers) {
        calls.push_back(call(function, place + behind, iteration, peers));
        calls.back().site.frame = first_place;  // another function each
      };
      switch (message_) {
        case Message::kRequestAndSend: add(kIrecv, 0, from), add(kSend, 16, to), add(kWait, 32, kNobody); break;
        case Message::kBothRequests: add(kIrecv, 0, from), add(kIsend, 16, to), add(kWaitall, 32, kNobody); break;
        case Message::kBlocking: add(kSendrecv, 0, both); break;
        case Message::kSendThenReceive: add(kSend, 0, to), add(kRecv, 16, from); break;
      }
      if (k == 0) calls[first].work = wire::Nanoseconds{1'000'000};
    }
  }
  void leave_out_regularly() {
    const std::size_t which = std::size_t(up_to(int(exchanges_.size())) - 1);
    for (int iteration = every_ - 1; iteration < kAll; iteration += every_) left_out_[{iteration, which}] = 3;
  }
  /// At least one is in all iterations. While ranks look for the loop another is left out but once, so that by no chance two
  /// iterations come several times running.
  void leave_out_by_chance() {
    const std::size_t always = std::size_t(up_to(int(exchanges_.size())) - 1);
    for (std::size_t i = 0; i < exchanges_.size(); ++i) {
      const bool may_be = i != always && up_to(3) > 1;
      const auto others = std::uintptr_t(up_to(3));
      for (int iteration = 0; may_be && iteration < kAll; ++iteration) {
        if (up_to(every_) == 1 && (iteration >= kSought || left_out_.empty())) left_out_[{iteration, i}] = others;
      }
    }
  }
  int up_to(int most) { return std::uniform_int_distribution<>(1, most)(dice_); }
  std::uintptr_t new_place() { return next_place_ += 0x10000 * std::uintptr_t(up_to(100)); }

  std::mt19937 dice_;
  std::uintptr_t next_place_ = 0x400000;
  Message message_{};
  bool is_one_place_ = false;  ///< For all neighbours.
  std::vector<std::uintptr_t> exchanges_;
  std::vector<std::size_t> set_up_;
  std::uintptr_t rebuild_ = 0;
  std::map<std::pair<int, std::size_t>, std::uintptr_t>
      left_out_;  ///< By iteration and exchange: how many are in its place.
  int every_ = 0;
  bool reads_for_others_ = false;
};

/// From when all ranks have found the loop, also one that has sent what it has read before, and seen it without the exchange.
std::map<int, Step> settled(const Calls& calls) {
  std::map<int, Step> found;
  for (const Seen& seen : steps_of(calls)) {
    std::size_t behind = seen.call;
    while (calls[behind].starts) --behind;
    const int iteration = calls[behind].iteration;
    if (iteration < kSettled) continue;
    EXPECT_TRUE(found.emplace(iteration, seen.step).second) << "two steps in iteration " << iteration;
  }
  return found;
}

void expect_a_step_for_each_iteration(Dynamics::Leaves leaves) {
  const unsigned first = any_seed();
  SCOPED_TRACE(testing::Message() << "seed " << first);
  for (unsigned seed = first; seed != first + 100; ++seed) {
    const Dynamics program(seed, leaves);
    SCOPED_TRACE(testing::Message() << seed << ": " << program);
    const std::map<int, Step> of_first = settled(program.run(0));
    for (int rank = 0; rank < 7; ++rank) {
      const std::map<int, Step> steps = settled(program.run(rank));
      ASSERT_EQ(steps, of_first) << "rank " << rank;
      for (int iteration = kSettled; iteration < kAll - 1; ++iteration) {
        ASSERT_TRUE(steps.contains(iteration)) << iteration;
        ASSERT_EQ(steps.at(iteration), steps.begin()->second + iteration - kSettled);
      }
    }
  }
}

TEST(StepFinder, AnIterationThatLeavesOneOfItsExchangesOutIsAStepAllTheSame) {
  expect_a_step_for_each_iteration(Dynamics::Leaves::kRegularly);
}

TEST(StepFinder, AnIterationThatLeavesAnyOfItsExchangesOutIsAStepAllTheSame) {
  expect_a_step_for_each_iteration(Dynamics::Leaves::kByChance);
}

/// Its residual is computed anew then, with an exchange and a reduction of its own.
TEST(StepFinder, ASolverThatBeginsAnewGoesThroughNoIterationByThat) {
  for (const int every : {5, 20, 50}) {
    Calls calls;
    for (int i = 0; i < kAll; ++i) {
      const bool begins = i % every == 0;
      for (int k = begins ? 0 : 1; k < 2; ++k) {
        const int iteration = k == 0 ? kNoIteration : i;
        calls.push_back(call(kIrecv, 0x1000, iteration, peers_of(-1, 1)));
        calls.push_back(call(kSend, 0x1010, iteration, peers_of(1, -1)));
        calls.push_back(call(kWait, 0x1020, iteration));
        calls.push_back(call(kAllreduce, k == 0 ? 0x200000 : 0x300000, iteration, kEverybody));
      }
    }
    const std::map<int, Step> steps = by_iteration(calls);
    EXPECT_FALSE(steps.contains(kNoIteration));
    EXPECT_GE(steps.size(), std::size_t(kAll - kUnknown)) << every;
    for (const auto& [iteration, step] : steps) EXPECT_EQ(step, iteration) << every;
  }
}

}  // namespace
}  // namespace idlewave::mpi::habits
