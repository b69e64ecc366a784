#include "monitor/cli/calibration/likwid_bench.h"

#include <gtest/gtest.h>

namespace idlewave::cli::calibration {
namespace {

TEST(LikwidBench, ItsBandwidthIsReadFromWhatItPrints) {
  EXPECT_EQ(parse_likwid_bandwidth("MFlops/s:\t\t782.88\nMByte/s:\t\t9394.59\nCycles: 3\n"), 9394.59e6);
  EXPECT_EQ(parse_likwid_bandwidth("MByte/s:\t\t\n"), std::nullopt);
  EXPECT_EQ(parse_likwid_bandwidth("MByte/s: 0\n"), std::nullopt);
  EXPECT_EQ(parse_likwid_bandwidth("likwid-bench: no such domain\n"), std::nullopt);
}

TEST(LikwidBench, OneThatFailsSaysNothing) {
  const MeasuredDomain domain{"socket 0", {0}, {0}, 0};
  EXPECT_TRUE(ask_likwid_bench("/bin/false", StreamKind::kTriad, 0, domain, 1'000'000).empty());
  EXPECT_TRUE(ask_likwid_bench("/no/such/program", StreamKind::kTriad, 0, domain, 1'000'000).empty());
}

}  // namespace
}  // namespace idlewave::cli::calibration
