#include "workloads/progress/options.h"

#include <gmock/gmock.h>

namespace idlewave::progress {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

wire::Result<std::variant<Options, Text>> parse(std::vector<const char*> arguments, int ranks = 2) {
  arguments.insert(arguments.begin(), "iw-progress");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), ranks);
}

Options options(const std::vector<const char*>& arguments) {
  const auto parsed = parse(arguments);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? std::get<Options>(*parsed) : Options{};
}

TEST(ProgressOptions, TakeSizesWithTheirUnits) {
  EXPECT_THAT(options({"--message-size", "1 kB,80 MB,3B"}).sizes, ElementsAre(1'000, 80'000'000, 3));
}

TEST(ProgressOptions, TakeOneDirectionOrBoth) {
  EXPECT_EQ(options({}).directions, Directions::kBoth);
  EXPECT_EQ(options({"--direction", "send"}).directions, Directions::kSend);
  EXPECT_EQ(options({"--direction", "receive"}).directions, Directions::kReceive);
}

TEST(ProgressOptions, RefuseBadInputInOneLineThatNamesTheFlag) {
  const std::vector<std::vector<const char*>> bad = {
      {"--message-size", "1000"}, {"--message-size", "0 B"}, {"--message-size", "1kB,,2kB"},
      {"--message-size", "3 GB"}, {"--direction", "up"},     {"--points", "1"},
      {"--points", "many"},       {"--repetitions", "0"},    {"--work", "1ms"}};
  for (const auto& arguments : bad) {
    const auto parsed = parse(arguments);
    ASSERT_FALSE(parsed) << arguments[0] << " " << arguments[1];
    EXPECT_THAT(parsed.error().message, HasSubstr(arguments[0]));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("\n")));
  }
}

TEST(ProgressOptions, RefuseAnyNumberOfRanksButTwo) {
  for (const int ranks : {1, 3, 40}) {
    const auto parsed = parse({}, ranks);
    ASSERT_FALSE(parsed);
    EXPECT_THAT(parsed.error().message, HasSubstr("mpirun -n 2"));
  }
}

TEST(ProgressOptions, HelpIsThereForAnyNumberOfRanks) { EXPECT_TRUE(parse({"--help"}, 1)); }

}  // namespace
}  // namespace idlewave::progress
