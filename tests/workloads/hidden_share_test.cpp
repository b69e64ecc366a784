#include "workloads/progress/hidden_share.h"
#include "tests/any_seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <vector>

namespace idlewave::progress {
namespace {

/// A machine and an MPI of random properties.
struct Setting {
  Line truth;
  int points = 9;
  int repetitions = 9;
  double scatter = 0;  ///< Of a trial, relative to T_comm; in one direction only, as disturbances are.
  double held_up = 0;  ///< Share of trials that last up to a hundred times as long.
};

std::vector<Trial> trials_of(const Setting& setting, std::mt19937_64& random) {
  std::exponential_distribution<double> scatter{1};
  std::bernoulli_distribution is_held_up{setting.held_up};
  std::uniform_real_distribution<double> holds{0, 100};
  std::vector<Trial> trials;
  for (int point = 0; point < setting.points; ++point) {
    for (int repetition = 0; repetition < setting.repetitions; ++repetition) {
      const double t = setting.truth.communication;
      const double work = 2 * t * point / (setting.points - 1);
      const double disturbed = setting.scatter * t * scatter(random) + (is_held_up(random) ? t * holds(random) : 0);
      trials.push_back({work, setting.truth.total_at(work) + disturbed});
    }
  }
  return trials;
}

Setting any_setting(std::mt19937_64& random, double hidden) {
  const double communication = std::pow(10, std::uniform_real_distribution<double>{-7, 0}(random));
  return {.truth = {communication, hidden},
          .points = std::uniform_int_distribution{5, 20}(random),
          .repetitions = std::uniform_int_distribution{5, 20}(random)};
}

double sum_of_distances(const std::vector<Trial>& trials, const Line& line) {
  double sum = 0;
  for (const Trial& trial : trials) sum += std::abs(trial.total - line.total_at(trial.work));
  return sum;
}

TEST(HiddenShare, IsFoundExactlyWhereNothingDisturbs) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  for (int run = 0; run < 200; ++run) {
    const Setting setting = any_setting(random, std::uniform_real_distribution<double>{0, 1}(random));
    const Line line = fit(trials_of(setting, random));
    EXPECT_NEAR(line.hidden, setting.truth.hidden, 0.02);
    EXPECT_NEAR(line.communication, setting.truth.communication, 0.02 * setting.truth.communication);
  }
}

TEST(HiddenShare, IsThatOfALineAsCloseAsAnyOfAFineGrid) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  for (int run = 0; run < 20; ++run) {
    Setting setting = any_setting(random, std::uniform_real_distribution<double>{0, 1}(random));
    setting.scatter = 0.2;
    setting.held_up = 0.1;
    const std::vector<Trial> trials = trials_of(setting, random);
    double closest = INFINITY;
    for (int c = 1; c <= 300; ++c) {
      for (int h = 0; h <= 100; ++h) {
        const Line line{setting.truth.communication * c / 100, h / 100.0};
        closest = std::min(closest, sum_of_distances(trials, line));
      }
    }
    EXPECT_LE(sum_of_distances(trials, fit(trials)), 1.002 * closest);
  }
}

TEST(Progress, IsToldFromItsLackWhateverTheTimesAre) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  int open = 0;
  for (int run = 0; run < 60; ++run) {
    const bool by_itself = run % 2 == 0;
    Setting setting = any_setting(random, by_itself ? 1 : 0);
    setting.scatter = std::uniform_real_distribution<double>{0, 0.05}(random);
    setting.held_up = std::uniform_real_distribution<double>{0, 0.1}(random);
    const Finding finding = judge(trials_of(setting, random));
    const Verdict true_one = by_itself ? Verdict::kByItself : Verdict::kInCalls;
    EXPECT_TRUE(finding.verdict == true_one || finding.verdict == Verdict::kCantBeTold)
        << "hidden " << finding.line.hidden << " of " << setting.truth.hidden << ", from " << finding.least_hidden
        << " to " << finding.most_hidden;
    open += finding.verdict == Verdict::kCantBeTold;
  }
  // Of five times five trials most of one work may be held up, and then more than one line goes through them.
  EXPECT_LE(open, 1);
}

/// It may be left open and it may not be told wrongly. What delays every trial by much more than T_comm is no scatter: it
/// is communication that nothing hides.
TEST(Progress, IsNotToldWronglyFromTimesThatScatter) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  int wrong = 0;
  for (int run = 0; run < 40; ++run) {
    const bool by_itself = run % 2 == 0;
    Setting setting = any_setting(random, by_itself ? 1 : 0);
    setting.scatter = std::uniform_real_distribution<double>{0, 1.5}(random);
    setting.held_up = std::uniform_real_distribution<double>{0, 0.3}(random);
    const Verdict verdict = judge(trials_of(setting, random)).verdict;
    wrong += verdict == (by_itself ? Verdict::kInCalls : Verdict::kByItself);
  }
  EXPECT_LE(wrong, 1);
}

TEST(Progress, CantBeToldFromTimesThatHaveNothingToDoWithTheWork) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  std::lognormal_distribution<double> beyond{0, 3};
  int told = 0;
  for (int run = 0; run < 40; ++run) {
    std::vector<Trial> trials;
    for (int i = 0; i < 27; ++i) trials.push_back({i / 9 * 0.5, i / 9 * 0.5 + beyond(random)});
    const Verdict verdict = judge(trials).verdict;
    told += verdict != Verdict::kCantBeTold;
  }
  EXPECT_LE(told, 20);
}

TEST(Progress, IsPartlyWhatHalfOfItIs) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(testing::Message() << "IDLEWAVE_TEST_SEED=" << seed);
  std::mt19937_64 random{seed};
  for (int run = 0; run < 20; ++run) {
    Setting setting = any_setting(random, 0.5);
    setting.scatter = 0.01;
    EXPECT_EQ(judge(trials_of(setting, random)).verdict, Verdict::kPartly);
  }
}

TEST(Progress, IsJudgedAlikeFromTheSameTrials) {
  std::mt19937_64 random{any_seed()};
  Setting setting = any_setting(random, 0.7);
  setting.scatter = 0.3;
  const std::vector<Trial> trials = trials_of(setting, random);
  EXPECT_EQ(judge(trials).least_hidden, judge(trials).least_hidden);
  EXPECT_EQ(judge(trials).most_hidden, judge(trials).most_hidden);
}

}  // namespace
}  // namespace idlewave::progress
