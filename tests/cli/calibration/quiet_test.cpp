#include "monitor/cli/calibration/quiet.h"

#include <gtest/gtest.h>

#include <array>

namespace idlewave::cli::calibration {
namespace {

constexpr std::array kBoth = {0, 1};

Moment moment(std::string_view stat, double own_s = 0) { return {parse_processor_times(stat), own_s, 100}; }

TEST(Quiet, ReadsTheLinesOfEachProcessorAndNoOther) {
  const auto times = parse_processor_times(
      "cpu  10 1 5 80 4 1 2 3 0 0\ncpu0 10 1 5 80 4 1 2 3 0 0\ncpu12 0 0 0 7 0 0 0 0 0 0\nintr 5 6 7\ncpu3 broken\n");
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times.at(0).busy, 19);
  EXPECT_EQ(times.at(0).stolen, 3);
  EXPECT_EQ(times.at(0).all, 106);
  EXPECT_EQ(times.at(12).all, 7);
}

TEST(Quiet, OurOwnWorkIsNotThatOfOthers) {
  const Moment before = moment("cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
  const Moment after = moment("cpu0 100 0 0 0 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0\n", 1.0);
  EXPECT_EQ(others_between(before, after, kBoth).working, 0);
  EXPECT_EQ(who_disturbs(others_between(before, after, kBoth)), "");
}

TEST(Quiet, OthersAtWorkAndStolenTimeAreNamed) {
  const Moment before = moment("cpu0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0\n");
  const Moment busy = moment("cpu0 60 0 20 20 0 0 0 0\ncpu1 0 0 0 100 0 0 0 0\n", 0.2);
  EXPECT_DOUBLE_EQ(others_between(before, busy, kBoth).working, 0.3);
  EXPECT_NE(who_disturbs(others_between(before, busy, kBoth)).find("other programs took 30 %"), std::string::npos);
  const Moment stolen = moment("cpu0 0 0 0 90 0 0 0 10\ncpu1 0 0 0 100 0 0 0 0\n");
  EXPECT_NE(who_disturbs(others_between(before, stolen, kBoth)).find("took 5 %"), std::string::npos);
}

TEST(Quiet, ProcessorsThatAreNotMeasuredDoNotCount) {
  const Moment before = moment("cpu0 0 0 0 0 0 0 0 0\ncpu7 0 0 0 0 0 0 0 0\n");
  const Moment after = moment("cpu0 0 0 0 100 0 0 0 0\ncpu7 100 0 0 0 0 0 0 0\n");
  EXPECT_EQ(who_disturbs(others_between(before, after, kBoth)), "");
}

TEST(Quiet, ThisSystemSaysHowLongItsProcessorsWereAtWork) {
  const Moment now = now_at_work();
  EXPECT_FALSE(now.processors.empty());
  EXPECT_GT(now.own_s, 0);
}

}  // namespace
}  // namespace idlewave::cli::calibration
