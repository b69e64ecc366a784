#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "workloads/support/noise_trace.h"

namespace idlewave::support {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

NoiseTrace read(std::string_view text) {
  const auto trace = parse_noise_trace(text, "noise.csv");
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().message);
  return trace ? *trace : NoiseTrace{};
}

std::string complaint(std::string_view text) {
  const auto trace = parse_noise_trace(text, "noise.csv");
  return trace ? "" : trace.error().message;
}

TEST(NoiseTrace, ReadsStartAndDurationWithUnits) {
  const NoiseTrace trace = read("start, duration\n# a daemon\n1.5 ms, 20 us\r\n\n 2 s ,3ms");
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].start, 1500us);
  EXPECT_EQ(trace[0].duration, 20us);
  EXPECT_EQ(trace[1].start, 2s);
  EXPECT_EQ(trace[1].duration, 3ms);
}

TEST(NoiseTrace, RefusesOneThatLeavesNanosecondsOfADayForWork) {
  EXPECT_THAT(complaint("10 99999999999820\n"), HasSubstr("leaves no time for work"));
  EXPECT_EQ(complaint("0 999\n1000 0\n"), "");
}

TEST(NoiseTrace, ReadsNanosecondsAsLogGopSimDoes) {
  const NoiseTrace trace = read("# selfish\n1500\t20\n2.5e3\t7.6\n3000 0\n");
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace[0].start, 1500ns);
  EXPECT_EQ(trace[0].duration, 20ns);
  EXPECT_EQ(trace[1].start, 2500ns);
  EXPECT_EQ(trace[1].duration, 8ns);
  EXPECT_EQ(trace[2].duration, 0ns);
}

TEST(NoiseTrace, NamesTheLineThatWasCut) {
  EXPECT_THAT(complaint("1500\t20\n25"),
              AllOf(StartsWith("noise.csv:2: \"25\" is not a start and a duration"), HasSubstr("1.5 ms, 20 us")));
  EXPECT_THAT(complaint("1 ms, 20 us\n2 ms,"), StartsWith("noise.csv:2: \"2 ms,\" is not"));
  EXPECT_THAT(complaint("1 ms, 20 us\n2 ms, 3"), AllOf(StartsWith("noise.csv:2: "), HasSubstr("has no unit")));
}

TEST(NoiseTrace, RefusesTimesThatGoBack) {
  EXPECT_THAT(complaint("1 ms, 1 us\n3 ms, 1 us\n2 ms, 1 us\n"),
              StartsWith("noise.csv:3: begins before the line before it"));
}

TEST(NoiseTrace, RefusesNegativeTimes) {
  EXPECT_THAT(complaint("-5\t20\n"), AllOf(StartsWith("noise.csv:1: "), HasSubstr("is negative")));
  EXPECT_THAT(complaint("5 ms, -2 us\n"), HasSubstr("is negative"));
}

TEST(NoiseTrace, RefusesGarbage) {
  EXPECT_THAT(complaint("hello\n"), StartsWith("noise.csv:1: \"hello\" is not"));
  EXPECT_THAT(complaint("1 2 3\n"), StartsWith("noise.csv:1: \"1 2 3\" is not"));
  EXPECT_THAT(complaint("a b\n"), HasSubstr("is not a number"));
  EXPECT_THAT(complaint("nan 5\n"), HasSubstr("not a finite number"));
  EXPECT_THAT(complaint("1e300 5\n"), HasSubstr("too large"));
  EXPECT_THAT(complaint("9e18 9e18\n"), HasSubstr("too large"));
  EXPECT_THAT(complaint("1 ms, 2 us, 3 us\n"), StartsWith("noise.csv:1: "));
  EXPECT_THAT(complaint("1 ms, 1 us\nstart, duration\n"), StartsWith("noise.csv:2: "));
  EXPECT_NE(complaint(std::string_view{"\0\0\0\n\xff", 5}), "");
}

TEST(NoiseTrace, RefusesToMixNanosecondsWithUnits) {
  EXPECT_THAT(complaint("1 ms, 1 us\n2000000 1000\n"), AllOf(StartsWith("noise.csv:2: "), HasSubstr("can't be mixed")));
}

TEST(NoiseTrace, RefusesATraceWithoutInterruptions) {
  for (const char* text : {"", "\n\n", "# nothing\n", "start, duration\n"}) {
    EXPECT_THAT(complaint(text), StartsWith("noise.csv: holds no interruption")) << text;
  }
}

TEST(NoiseTrace, RefusesOneThatLeavesNoTimeForWork) {
  EXPECT_THAT(complaint("0 s, 1 s\n"), AllOf(StartsWith("noise.csv: leaves no time for work"), HasSubstr("last line")));
  EXPECT_THAT(complaint("0 s, 1 s\n1 s, 1 s\n"), HasSubstr("leaves no time"));
  EXPECT_EQ(complaint("0 s, 1 s\n1.1 s, 0 s\n"), "");
}

TEST(NoiseTraceFile, IsFoundBesideTheScenario) {
  std::string name = testing::TempDir() + "noise_trace_XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const std::filesystem::path folder = name;
  std::ofstream{folder / "a.csv"} << "1 ms, 2 us\n";
  const auto trace = load_noise_trace({TraceNoise{"a.csv"}, 1}, folder);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->size(), 1u);
  std::filesystem::remove_all(folder);
}

TEST(NoiseTraceFile, ThatDoesNotExistIsNamed) {
  const auto trace = load_noise_trace({TraceNoise{"x.csv"}, 1}, "/nonexistent");
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, StartsWith("/nonexistent/x.csv: can't be read"));
}

TEST(NoiseTraceFile, IsNotLookedForWhereNoneIsAskedFor) {
  const auto trace = load_noise_trace({ExponentialNoise{1ms}, 1}, "/nonexistent");
  ASSERT_TRUE(trace);
  EXPECT_TRUE(trace->empty());
}

}  // namespace
}  // namespace idlewave::support
