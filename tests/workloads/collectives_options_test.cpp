#include "workloads/collectives/options.h"

#include <gmock/gmock.h>

namespace idlewave::collectives {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Parsed = wire::Result<std::variant<Options, Text>>;

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "iw-collectives");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), 40);
}

Options options(const std::vector<const char*>& arguments) {
  const Parsed parsed = parse(arguments);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? std::get<Options>(*parsed) : Options{};
}

std::vector<std::string> names(const std::vector<NamedNoise>& noises) {
  std::vector<std::string> names;
  for (const NamedNoise& each : noises) names.push_back(each.name);
  return names;
}

TEST(CollectivesOptions, MeasureAllFourUnderTheThreeProfilesByDefault) {
  const Options o = options({});
  EXPECT_THAT(o.collectives,
              ElementsAre(Collective::kAllreduce, Collective::kAllgather, Collective::kGather, Collective::kScatter));
  EXPECT_THAT(names(o.noises), ElementsAre("system", "daemon", "checkpoint"));
}

TEST(CollectivesOptions, TakeTheirNoisesInsteadInTheirOrderWithOneSeed) {
  const Options o = options({"--noise", "exp:1ms", "--noise", "daemon", "--seed", "7"});
  EXPECT_THAT(names(o.noises), ElementsAre("exp:1ms", "daemon"));
  EXPECT_EQ(o.noises[0].noise.seed, 7u);
  EXPECT_EQ(std::get<support::ExponentialNoise>(o.noises[0].noise.distribution).mean, 1ms);
  EXPECT_TRUE(options({"--noise", "none"}).noises.empty());
}

TEST(CollectivesOptions, TakeCollectivesInTheirOrderAndSizesInUnits) {
  const Options o = options({"--collectives", "scatter,allreduce", "--size", "64KiB", "--tests", "0", "--work", "2 ms",
                             "--steps", "7", "--waiting", "polling", "--json"});
  EXPECT_THAT(o.collectives, ElementsAre(Collective::kScatter, Collective::kAllreduce));
  EXPECT_EQ(o.size, 65536u);
  EXPECT_EQ(o.tests, 0);
  EXPECT_EQ(o.work, 2ms);
  EXPECT_EQ(o.steps, 7);
  EXPECT_EQ(o.waiting, Waiting::kPolling);
  EXPECT_TRUE(o.json);
}

TEST(CollectivesOptions, RefuseBadInputInOneLineThatNamesTheFlag) {
  const std::vector<std::vector<const char*>> bad = {{"--collectives", "alltoall"},
                                                     {"--collectives", "gather,"},
                                                     {"--size", "8"},
                                                     {"--size", "9 B"},
                                                     {"--size", "0 B"},
                                                     {"--size", "1 GB"},
                                                     {"--work", "0 s"},
                                                     {"--work", "25 h"},
                                                     {"--work", "10"},
                                                     {"--steps", "0"},
                                                     {"--tests", "-1"},
                                                     {"--noise", "none", "--noise", "daemon"},
                                                     {"--noise", "loud"},
                                                     {"--waiting", "badly"},
                                                     {"--seed", "-1"},
                                                     {"--ranks-per-domain", "0"},
                                                     {"--noise"}};
  for (const auto& arguments : bad) {
    const Parsed parsed = parse(arguments);
    ASSERT_FALSE(parsed) << arguments[0];
    EXPECT_THAT(parsed.error().message, HasSubstr(arguments[0]));
    EXPECT_THAT(parsed.error().message, Not(HasSubstr("\n")));
  }
}

TEST(CollectivesOptions, RefuseATraceThatIsNotThere) {
  const Parsed parsed = parse({"--noise", "trace:/nowhere/noise.txt"});
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, HasSubstr("/nowhere/noise.txt"));
}

TEST(CollectivesOptions, NameEquationsAndSectionsInTheHelp) {
  const Parsed parsed = parse({"--help"});
  ASSERT_TRUE(parsed);
  EXPECT_THAT(std::get<Text>(*parsed).text, HasSubstr("WLFH16 eq. 1"));
  EXPECT_THAT(std::get<Text>(*parsed).text, HasSubstr("Figs. 6 and 9"));
}

}  // namespace
}  // namespace idlewave::collectives
