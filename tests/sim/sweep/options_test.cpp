// What is swept, as a command line says it.

#include "workloads/sim/sweep/options.h"

#include <gmock/gmock.h>

namespace idlewave::sim::sweep {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SweptKey, TakesARangeOfWholeNumbersWithBothEnds) {
  const auto key = parse_sweep("machine.ranks_per_domain=8..11");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->key, "machine.ranks_per_domain");
  EXPECT_THAT(key->values, ElementsAre("8", "9", "10", "11"));
  EXPECT_THAT(parse_sweep("a=5..5")->values, ElementsAre("5"));
  EXPECT_THAT(parse_sweep("a=-1..1")->values, ElementsAre("-1", "0", "1"));
  EXPECT_THAT(parse_sweep("a=5 ..7")->values, ElementsAre("5", "6", "7"));
  EXPECT_THAT(parse_sweep("a= 5 .. 7 ")->values, ElementsAre("5", "6", "7"));
}

TEST(SweptKey, TakesAListOfValuesAsTheyStand) {
  EXPECT_THAT(parse_sweep("delay.0.duration=0.6s,1.2 s")->values, ElementsAre("0.6s", "1.2 s"));
  EXPECT_THAT(parse_sweep("program.kernel=memory")->values, ElementsAre("memory"));
}

TEST(SweptKey, RefusesWhatIsNeither) {
  for (const char* text : {"", "=1..2", "machine.ranks", "machine.ranks=", "a=2..1", "a=1..", "a=..1", "a=1..2..3",
                           "a=1.5..2", "a=x..y", "a=0..100000", "a=-9223372036854775808..9223372036854775807"}) {
    const auto key = parse_sweep(text);
    ASSERT_FALSE(key) << text;
    EXPECT_THAT(key.error().message, AllOf(HasSubstr(std::string("'") + text + "'"), HasSubstr(".."))) << text;
  }
  EXPECT_EQ(parse_sweep("a=1..100000")->values.size(), 100'000u);
}

Parsed parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "sim");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse(static_cast<int>(words.size()), argv.data());
}

TEST(SweepOptions, SayOnceWhyTheyCanNotBeTaken) {
  const Parsed unknown = parsed({"s.toml", "--sweep", "machine.ranks=4..5", "--record", "s.iw"});
  EXPECT_FALSE(unknown.options);
  EXPECT_THAT(unknown.complaint, HasSubstr("--record"));
  EXPECT_THAT(parsed({"--sweep", "machine.ranks=4..5"}).complaint, HasSubstr("scenario"));
  EXPECT_THAT(parsed({"s.toml", "--threads", "2"}).complaint, HasSubstr("--sweep"));
}

TEST(SweepOptions, HelpGoesToStdout) {
  const Parsed help = parsed({"--help"});
  EXPECT_FALSE(help.options);
  EXPECT_THAT(help.text, HasSubstr("--sweep"));
  EXPECT_EQ(help.complaint, "");
}

}  // namespace
}  // namespace idlewave::sim::sweep
