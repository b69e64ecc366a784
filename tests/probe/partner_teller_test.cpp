// Whom a rank waits for, as its probe tells it: judged by a reader that knows nothing but what was told.

#include "probe/client/partner_teller.h"
#include "tests/any_seed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace idlewave::client {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Step = std::vector<int>;

/// A rank whose pattern p waits for rank 100 + p, and who reads what it tells.
class Rank {
 public:
  Rank() { teller_->attach(*book_); }

  void wait(int pattern) {
    const int from = 100 + pattern;
    if (!teller_->wait(pattern)) teller_->define(pattern, {&from, 1}, {}, 0);
  }
  /// True if there was something to tell.
  bool step(const Step& waits) {
    for (const int pattern : waits) wait(pattern);
    const auto told = teller_->end_step(next_++);
    if (!told) return false;
    told_ = *told;
    return true;
  }
  /// How many of the steps said anything.
  int steps(const std::vector<Step>& all) {
    return std::accumulate(all.begin(), all.end(), 0, [&](int told, const Step& each) { return told + step(each); });
  }
  /// As a reader knows of step `number`; the rank told 0: {-1}.
  Step known(std::int64_t number) const {
    if (told_ == 0) return {-1};
    const shm::PartnerBook::Cycle& cycle = book_->cycles[told_ - 1];
    std::vector<Step> steps(1);
    for (std::uint32_t i = 0; i < cycle.symbols; ++i) {
      const int symbol = book_->symbols[cycle.first + i];
      if (symbol == shm::kEndOfStep)
        steps.emplace_back();
      else
        steps.back().push_back(symbol);
    }
    steps.pop_back();
    return steps[std::size_t(number) % steps.size()];
  }
  std::int64_t latest() const { return next_ - 1; }
  PartnerTeller& teller() { return *teller_; }
  const shm::PartnerBook& book() const { return *book_; }
  void skip(std::int64_t steps) { next_ += steps; }

 private:
  std::unique_ptr<shm::PartnerBook> book_ = std::make_unique<shm::PartnerBook>();
  std::unique_ptr<PartnerTeller> teller_ = std::make_unique<PartnerTeller>();
  std::int64_t next_ = 0;
  std::uint32_t told_ = 0;
};

TEST(PartnerTeller, TellsARankThatRepeatsItselfOnce) {
  Rank rank;
  EXPECT_EQ(rank.steps(std::vector<Step>(1000, {0, 1})), 1);
  EXPECT_THAT(rank.known(999), ElementsAre(0, 1));
  EXPECT_EQ(rank.book().ranks[rank.book().patterns[1].first], 101);
}

TEST(PartnerTeller, IsSilentOnceACycleOfStepsHasComeTwice) {
  Rank rank;
  std::vector<Step> ten(10, {0});
  ten.back() = {0, 1};
  int told = 0;
  for (int i = 0; i < 3; ++i) told += rank.steps(ten);
  EXPECT_LT(told, 8);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(rank.steps(ten), 0);
  for (int step = 0; step < 10; ++step) EXPECT_EQ(rank.known(1000 + step), ten[std::size_t(step)]);
}

TEST(PartnerTeller, TellsWhoeverLeavesItsCycle) {
  Rank rank;
  rank.steps(std::vector<Step>(100, {0}));
  EXPECT_TRUE(rank.step({1}));
  EXPECT_TRUE(rank.step({0}));
  EXPECT_FALSE(rank.step({0}));
  EXPECT_TRUE(rank.step({}));
  EXPECT_THAT(rank.known(rank.latest()), IsEmpty());
}

TEST(PartnerTeller, NeverLeavesAReaderWithAWrongStepWhateverARankDoes) {
  const unsigned seed = any_seed();
  SCOPED_TRACE("IDLEWAVE_TEST_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  for (int program = 0; program < 200; ++program) {
    Rank rank;
    const auto below = [&](int limit) { return int(random() % unsigned(limit)); };
    const auto any_step = [&](int patterns) {
      Step step(std::size_t(below(4)));
      for (int& pattern : step) pattern = below(patterns);
      std::vector<int> once;
      for (const int pattern : step)
        if (std::ranges::find(once, pattern) == once.end()) once.push_back(pattern);
      return once;
    };
    const int patterns = 1 + below(10);
    for (int part = 0; part < 5; ++part) {
      std::vector<Step> cycle(std::size_t(1 + below(part % 2 ? 70 : 5)));
      for (Step& step : cycle) step = any_step(patterns);
      const int steps = below(400);
      for (int i = 0; i < steps; ++i) {
        const Step& step = cycle[std::size_t(i) % cycle.size()];
        rank.step(below(100) == 0 ? any_step(patterns) : step);
        if (below(50) == 0) rank.skip(below(3));
      }
      for (int i = 0; i < 200; ++i) {
        const Step& step = cycle[std::size_t(i) % cycle.size()];
        rank.step(step);
        const Step known = rank.known(rank.latest());
        ASSERT_TRUE(known == step || known == Step{-1}) << "program " << program << ", step " << rank.latest();
      }
    }
  }
}

TEST(PartnerTeller, TellsAgainWhatDidNotArrive) {
  Rank rank;
  EXPECT_TRUE(rank.step({0}));
  rank.teller().forget_told();
  EXPECT_TRUE(rank.step({0}));
  EXPECT_FALSE(rank.step({0}));
}

TEST(PartnerTeller, SaysNothingOfAStepThatItCouldNotKeep) {
  Rank rank;
  rank.step({0});
  const std::vector<int> many(shm::kPatternRanks, 7);
  rank.teller().define(1, many, {}, 0);
  EXPECT_TRUE(rank.step({}));
  EXPECT_THAT(rank.known(1), ElementsAre(-1));
  for (const int number : {-1, 64, 1'000'000'000}) {
    EXPECT_FALSE(rank.teller().wait(number));
    rank.teller().define(number, {}, {}, 0);
    EXPECT_FALSE(rank.step({})) << "it was told that nothing is known";
  }
  EXPECT_TRUE(rank.step({0}));
  EXPECT_THAT(rank.known(5), ElementsAre(0));
}

TEST(PartnerTeller, StaysInItsBookWhateverIsSaid) {
  Rank rank;
  std::mt19937 random(7);
  for (int i = 0; i < 100'000; ++i) {
    Step step(std::size_t(random() % 64));
    for (int& pattern : step) pattern = int(random() % 64);
    rank.step(step);
  }
  const shm::PartnerBook& book = rank.book();
  for (const shm::PartnerBook::Cycle& cycle : book.cycles) EXPECT_LE(cycle.first + cycle.symbols, shm::kCycleSymbols);
  EXPECT_THAT(rank.known(rank.latest()), ElementsAre(-1)) << "there is no room for what the rank does";
}

}  // namespace
}  // namespace idlewave::client
