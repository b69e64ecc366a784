// Noise as an operator says it, a trace from a file among it.

#include "monitor/cli/order_of_noise.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/remove_folder.h"

namespace idlewave::cli {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using wire::NoiseKind;

class OrderOfNoise : public testing::Test {
 protected:
  OrderOfNoise() {
    if (mkdtemp(folder_) == nullptr) std::abort();
  }
  ~OrderOfNoise() override { remove_folder(folder_); }
  std::string path(const std::string& name) const { return std::string(folder_) + "/" + name; }
  std::string file(const std::string& text, const std::string& name = "noise.txt") const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  std::string refusal(const std::string& text) const {
    const auto order = read_order_of_noise("trace:" + file(text));
    if (order) return "accepted";
    EXPECT_THAT(order.error().message, StartsWith(path("noise.txt") + ":")) << "the file is named";
    EXPECT_EQ(order.error().message.find('\n'), std::string::npos);
    return order.error().message;
  }

 private:
  char folder_[32] = "/tmp/idlewave-test-XXXXXX";
};

TEST_F(OrderOfNoise, TakesTheDetoursOfAFileAndItsNameAlone) {
  const auto order = read_order_of_noise(" trace: " + file("1000\t20\n5000\t300\n9000\t0\n"));
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->kind, NoiseKind::kTrace);
  EXPECT_EQ(order->amount, 300ns);
  EXPECT_EQ(order->trace, (wire::OrderedTrace{"noise.txt", 3, 9us, 320ns, {{1us, 20ns}, {5us, 300ns}, {9us, 0ns}}}));
}

TEST_F(OrderOfNoise, ReadsTimesWithUnits) {
  const auto order = read_order_of_noise("trace:" + file("start, duration\n1.5 ms, 20 us\n"));
  ASSERT_TRUE(order) << order.error().message;
  EXPECT_EQ(order->trace.length, 1520us) << "without a line that says where it ends, with its last detour";
}

TEST_F(OrderOfNoise, IsWhatItWasWithoutAFile) {
  EXPECT_EQ(*read_order_of_noise("exp:0.5ms"), (wire::NoiseOrder{NoiseKind::kExponential, 500us}));
  EXPECT_THAT(read_order_of_noise("pink:1ms").error().message, EndsWith("; or trace:FILE"));
}

TEST_F(OrderOfNoise, RefusesFilesThatHoldNoTrace) {
  EXPECT_THAT(refusal(""), HasSubstr("holds no interruption"));
  EXPECT_THAT(refusal("one two\n"), HasSubstr(":1: "));
  EXPECT_THAT(refusal("1000 20\nnoise\n"), HasSubstr(":2: "));
  EXPECT_THAT(refusal("1000 20\n500 20\n"), HasSubstr(":2: begins before the line before it; sort the lines"));
  EXPECT_THAT(refusal("-5 20\n"), HasSubstr(":1: "));
  EXPECT_THAT(refusal("5 -20\n"), HasSubstr(":1: "));
  EXPECT_THAT(refusal("0 20\n"), HasSubstr("say when the trace ends by a last line"));
  EXPECT_THAT(refusal("1000 0\n"), HasSubstr("held for 0 s"));
  EXPECT_THAT(refusal("1000, 20\n"), HasSubstr(":1: "));
  EXPECT_THAT(refusal("0 7200000000000\n90000000000000 0\n"), HasSubstr("held for 2 h"));
  EXPECT_THAT(refusal("0 1000\n9000000000000000 0\n"), HasSubstr("at most 720 h"));
  EXPECT_THAT(refusal(std::string("\0\xff\xfe", 3)), HasSubstr(":1: "));
}

TEST_F(OrderOfNoise, SaysHowManyDetoursAnOrderCarries) {
  std::string text;
  for (std::uint32_t i = 0; i < wire::kMaxDetours; ++i) text += fmt::format("{} 10\n", 1000 * i);
  EXPECT_EQ(refusal(text), "accepted");
  EXPECT_THAT(refusal(text + "20000000 0\n"), HasSubstr("holds 16385 lines; an order carries at most 16384: measure"));
  EXPECT_THAT(refusal(std::string(5'000'000, '\n')), HasSubstr("is larger than 4 MB; give the path of a noise trace"));
}

TEST_F(OrderOfNoise, RefusesWhatIsNoFile) {
  const auto why = [&](const std::string& path) { return read_order_of_noise("trace:" + path).error().message; };
  EXPECT_THAT(why(path("none")), HasSubstr("No such file or directory; give the path of a noise trace"));
  EXPECT_THAT(why(path("")), HasSubstr("is not a regular file; give the path"));
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(why(path("pipe")), HasSubstr("is not a regular file"));
  EXPECT_THAT(why("/dev/zero"), HasSubstr("is not a regular file"));
  EXPECT_THAT(why(""), HasSubstr("names no file; write trace:noise.txt"));
}

TEST_F(OrderOfNoise, RefusesAFileThatMayNotBeRead) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const std::string locked = file("1000 20\n9000 0\n", "locked");
  chmod(locked.c_str(), 0);
  EXPECT_THAT(read_order_of_noise("trace:" + locked).error().message, HasSubstr("can't be read"));
}

}  // namespace
}  // namespace idlewave::cli
