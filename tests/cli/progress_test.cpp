#include "monitor/cli/progress.h"

#include <gtest/gtest.h>

#include <limits>

namespace idlewave::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Progress, TellsTheShareAndWhatIsLeftAtTheSamePace) {
  EXPECT_EQ(progress_in_words(0.25, seconds(4)), "25 %, 12 s left");
  EXPECT_EQ(progress_in_words(1, seconds(4)), "100 %, 0 s left");
}

TEST(Progress, DoesNotGuessFromLittle) {
  EXPECT_EQ(progress_in_words(0.01, seconds(4)), "1 %");
  EXPECT_EQ(progress_in_words(0.5, milliseconds(1)), "50 %");
}

TEST(Progress, TakesAShareOfNothingForNone) {
  EXPECT_EQ(progress_in_words(std::numeric_limits<double>::quiet_NaN(), seconds(4)), "0 %");
  EXPECT_EQ(progress_in_words(std::numeric_limits<double>::infinity(), seconds(4)), "100 %, 0 s left");
  EXPECT_EQ(progress_in_words(-1, seconds(4)), "0 %");
}

}  // namespace
}  // namespace idlewave::cli
