#include "workloads/theory/hybrid.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace idlewave::theory {
namespace {

// rabenseifner-2007, slide "Performance ratio (theory)".
TEST(ReservedThreads, WinAndLoseAtMostWhatTheSlideSays) {
  for (int threads = 2; threads <= 16; ++threads) {
    for (int reserved = 1; reserved < threads; ++reserved) {
      double best = 0, worst = 10;
      for (double communication = 0; communication <= 1; communication += 1e-4) {
        const double ratio = funneled_reserved_ratio({communication, 1 - communication}, threads, reserved);
        best = std::max(best, ratio), worst = std::min(worst, ratio);
      }
      EXPECT_NEAR(best, best_reserved_ratio(threads, reserved), 2e-3 * best);
      EXPECT_DOUBLE_EQ(worst, worst_reserved_ratio(threads, reserved));
    }
  }
}

TEST(ReservedThreads, OfEightAreWorthwhileFromAShareOfCommunicationOn) {
  EXPECT_DOUBLE_EQ(best_reserved_ratio(8, 1), 1.875);
  EXPECT_DOUBLE_EQ(worst_reserved_ratio(8, 1), 0.875);
  EXPECT_LT(funneled_reserved_ratio({0.05, 0.95}, 8, 1), 1);
  EXPECT_GT(funneled_reserved_ratio({0.3, 0.7}, 8, 1), 1);
}

TEST(ReservedThreads, AreNoHelpWhereAllWorkWaits) { EXPECT_DOUBLE_EQ(funneled_reserved_ratio({0.4, 0}, 8, 1), 1); }

}  // namespace
}  // namespace idlewave::theory
