// The command line of `idlewave sim`.

#include "workloads/sim/main/options.h"

#include <gmock/gmock.h>

namespace idlewave::sim {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Parsed parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "sim");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  return parse(static_cast<int>(words.size()), argv.data());
}

/// One line on stderr that names `what`, and code 2.
void refuses(const std::vector<std::string>& words, const std::string& what) {
  testing::internal::CaptureStderr();
  const Parsed result = parsed(words);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(result.options);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(said, AllOf(StartsWith("idlewave: "), HasSubstr(what), EndsWith("\n")));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST(Options, AreThoseOfTheLine) {
  const Parsed result = parsed({"s.toml", "--set", "machine.ranks=80", "--set", "program.steps=9", "--window",
                                "0.6:0.85", "--step-start", "140", "--json"});
  ASSERT_TRUE(result.options);
  EXPECT_EQ(result.options->scenario, "s.toml");
  EXPECT_THAT(result.options->settings, ElementsAre("machine.ranks=80", "program.steps=9"));
  EXPECT_EQ(result.options->window.from, 0.6);
  EXPECT_EQ(result.options->window.to, 0.85);
  EXPECT_EQ(result.options->step_start, 140);
  EXPECT_TRUE(result.options->json);
  EXPECT_FALSE(result.options->streams());
}

TEST(Options, HoldOneSweepForEachKeyInOrder) {
  const Parsed result = parsed({"s.toml", "--sweep", "machine.ranks=4..5", "--sweep", "noise.seed=7,9"});
  ASSERT_TRUE(result.options);
  ASSERT_EQ(result.options->sweep.size(), 2u);
  EXPECT_EQ(result.options->sweep[0].key, "machine.ranks");
  EXPECT_THAT(result.options->sweep[1].values, ElementsAre("7", "9"));
}

TEST(Options, TakeThreadsForASweepAlone) {
  const Parsed result = parsed({"s.toml", "--sweep", "machine.ranks=4..5", "--threads", "3"});
  ASSERT_TRUE(result.options);
  EXPECT_EQ(result.options->threads, 3);
  for (const char* text : {"0", "-1", "1.5", "all", "5000"}) {
    refuses({"s.toml", "--sweep", "machine.ranks=4..5", "--threads", text}, "--threads");
  }
  refuses({"s.toml", "--threads", "3"}, "--sweep");
}

TEST(Options, DefaultToTheWindowOfTheManual) {
  const Parsed result = parsed({"s.toml"});
  ASSERT_TRUE(result.options);
  EXPECT_EQ(result.options->window.from, 0.5);
  EXPECT_EQ(result.options->window.to, 0.95);
}

TEST(Options, RefuseAWindowThatIsNone) {
  for (const char* text :
       {"0.6", "0.9:0.1", "0.5:0.5", "-0.1:0.5", "0.5:1.1", "0.1:0.5:0.9", "a:b", "nan:0.5", "0.5:0.9s", ""})
    refuses({"s.toml", "--window", text}, "--window");
}

TEST(Options, RefuseAStepThatIsNone) {
  for (const char* text : {"-1", "1.5", "x"}) refuses({"s.toml", "--step-start", text}, "--step-start");
}

TEST(Options, NeedAScenarioOrASchedule) {
  refuses({}, "scenario");
  EXPECT_TRUE(parsed({"--goal", "ring.goal"}).options);
}

TEST(Options, RefuseWhatDoesNotGoTogether) {
  refuses({"s.toml", "--stream", "tcp://*:5555"}, "--realtime");
  refuses({"s.toml", "--realtime"}, "--stream");
  refuses({"s.toml", "--duration", "5s"}, "--realtime");
  refuses({"s.toml", "--key", "key.server"}, "--stream");
  refuses({"s.toml", "--realtime", "--stream", "tcp://*:5555", "--record", "s.iw"}, "--record");
  refuses({"s.toml", "--sweep", "machine.ranks=4..5", "--record", "s.iw"}, "--sweep");
  refuses({"--goal", "ring.goal", "--record", "s.iw"}, "--goal");
  refuses({"--goal", "ring.goal", "--step-start", "3"}, "--goal");
  refuses({"--goal", "ring.goal", "--realtime", "--stream", "tcp://*:5555"}, "--goal");
}

TEST(Options, RefuseADurationWithoutItsUnit) {
  refuses({"s.toml", "--realtime", "--stream", "tcp://*:5555", "--duration", "5"}, "--duration");
}

TEST(Options, RefuseAnUnknownFlag) { refuses({"s.toml", "--frobnicate"}, "--frobnicate"); }

}  // namespace
}  // namespace idlewave::sim
