// Command lines of iw-chebfd.

#include "workloads/chebfd/options.h"

#include <gmock/gmock.h>

namespace idlewave::chebfd {
namespace {

using testing::HasSubstr;

wire::Result<std::variant<Options, Text>> parse(std::vector<const char*> words, int ranks = 4) {
  words.insert(words.begin(), "iw-chebfd");
  return parse_options(int(words.size()), words.data(), ranks);
}

Options options_of(std::vector<const char*> words) { return std::get<Options>(*parse(std::move(words))); }

std::string refusal(std::vector<const char*> words, int ranks = 4) {
  const auto parsed = parse(std::move(words), ranks);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(ChebfdOptions, AreThoseOfThePaperIfAsked) {
  const Options options =
      options_of({"--size", "128x64x64", "--vectors=128", "--block=32", "--degree", "500", "--window=-0.1:0.25"});
  EXPECT_THAT(options.insulator.size, testing::ElementsAre(128, 64, 64));
  EXPECT_EQ(options.blocks(), 4);
  EXPECT_EQ(options.degree, 500);
  EXPECT_EQ(options.window.lowest, -0.1);
  EXPECT_EQ(options.window.highest, 0.25);
  EXPECT_EQ(options.reduction, Reduction::kEnd);
}

TEST(ChebfdOptions, RefusesWhatCannotBe) {
  EXPECT_THAT(refusal({"--size", "16x16"}), HasSubstr("not of the form 16x16x8"));
  EXPECT_THAT(refusal({"--size", "16x0x8"}), HasSubstr("--size"));
  EXPECT_THAT(refusal({"--window", "0.5:-0.5"}), HasSubstr("has to be the lower one"));
  EXPECT_THAT(refusal({"--window", "0.5"}), HasSubstr("not of the form -0.5:0.5"));
  EXPECT_THAT(refusal({"--window", "-9:0"}), HasSubstr("no energy is below -5 or above 5"));
  EXPECT_THAT(refusal({"--window", "nan:1"}), HasSubstr("not an energy"));
  EXPECT_THAT(refusal({"--vectors", "5"}), HasSubstr("no multiple of the 2 of --block"));
  EXPECT_THAT(refusal({"--block", "3"}), HasSubstr("not one of 1, 2, 4, 8, 16, 32"));
  EXPECT_THAT(refusal({"--degree", "2"}), HasSubstr("--degree"));
  EXPECT_THAT(refusal({"--disorder", "-1"}), HasSubstr("0 to 1000"));
  EXPECT_THAT(refusal({"--size", "2x2x2"}, 9), HasSubstr("8 sites are fewer than the 9 ranks"));
  EXPECT_THAT(refusal({"--domain-bandwidth", "1 GB/s"}), HasSubstr("belongs to --kernel virtual"));
  EXPECT_THAT(refusal({"--kernel", "virtual", "--threads", "2"}), HasSubstr("one member of a virtual socket"));
}

}  // namespace
}  // namespace idlewave::chebfd
