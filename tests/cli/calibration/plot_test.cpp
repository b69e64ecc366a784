#include "monitor/cli/calibration/plot.h"

#include <gtest/gtest.h>

#include <sstream>

namespace idlewave::cli::calibration {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Plot, ShowsEachPointAtItsHeightAndTheSaturationPointDownToTheAxis) {
  const std::string text = plot({{"triad", {10e9, 20e9, 30e9, 30e9}, 3}}, {41, 7, false});
  EXPECT_EQ(text,
            "     30|                       X       x\n"
            "     20|               x       :\n"
            "       |       x               :\n"
            "      0|                       :\n"
            "   GB/s+--------------------------------\n"
            "               1       2       3       4\n"
            "        cores   x X triad, its saturation point\n");
}

TEST(Plot, KeepsItsSizeForAnyNumberOfCores) {
  for (const int cores : {1, 2, 7, 36, 64, 128, 500}) {
    std::vector<double> curve;
    for (int n = 1; n <= cores; ++n) curve.push_back(std::min(n * 1e9, 20e9));
    for (const bool unicode : {false, true}) {
      const auto lines = lines_of(plot({{"triad", curve, std::min(19, cores)}}, {80, 16, unicode}));
      EXPECT_EQ(lines.size(), 16u) << cores;
      for (const std::string& line : lines) {
        const auto cells = std::ranges::count_if(line, [](char byte) { return (byte & 0xC0) != 0x80; });
        EXPECT_LE(cells, 80) << line;
      }
    }
  }
}

}  // namespace
}  // namespace idlewave::cli::calibration
