#include "workloads/selfish/options.h"

#include <gmock/gmock.h>

namespace idlewave::selfish {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

using Parsed = wire::Result<std::variant<Options, Text>>;

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "iw-selfish");
  return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(SelfishOptions, LookForNineTimesTheShortestIterationByDefault) {
  const Parsed parsed = parse({});
  ASSERT_TRUE(parsed);
  const auto& o = std::get<Options>(*parsed);
  EXPECT_EQ(o.times_shortest, 9);
  EXPECT_FALSE(o.threshold);
  EXPECT_EQ(o.duration, 5s);
  EXPECT_TRUE(o.pin);
}

TEST(SelfishOptions, TakeAThresholdALimitAndAFile) {
  const Parsed parsed =
      parse({"--threshold", "2us", "--detours", "12", "--duration", "1 min", "--trace", "t.txt", "--no-pin", "--json"});
  ASSERT_TRUE(parsed);
  const auto& o = std::get<Options>(*parsed);
  EXPECT_EQ(o.threshold, 2us);
  EXPECT_EQ(o.most_detours, 12u);
  EXPECT_EQ(o.duration, 1min);
  EXPECT_EQ(o.trace, "t.txt");
  EXPECT_FALSE(o.pin);
  EXPECT_TRUE(o.json);
}

TEST(SelfishOptions, RefuseBadInputInOneLineThatNamesTheFlag) {
  const std::vector<std::vector<const char*>> bad = {{"--duration", "5"},
                                                     {"--duration", "0 s"},
                                                     {"--duration", "25 h"},
                                                     {"--detours", "0"},
                                                     {"--detours", "5000001"},
                                                     {"--times", "1"},
                                                     {"--threshold", "-1us"},
                                                     {"--threshold", "7"},
                                                     {"--trace"},
                                                     {"--histogram"},
                                                     {"--times", "9", "--threshold", "2us"}};
  for (const auto& arguments : bad) {
    const Parsed parsed = parse(arguments);
    ASSERT_FALSE(parsed) << arguments[0];
    EXPECT_THAT(parsed.error().message, HasSubstr(arguments[0]));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("\n")));
  }
}

TEST(SelfishOptions, NameTheirPapersInTheHelp) {
  const Parsed parsed = parse({"--help"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(std::get<Text>(*parsed).text, HasSubstr("HSL10"));
  EXPECT_THAT(std::get<Text>(*parsed).text, HasSubstr("Figs. 3"));
}

}  // namespace
}  // namespace idlewave::selfish
