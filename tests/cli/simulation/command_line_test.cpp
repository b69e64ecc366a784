// The command line of `idlewave sim`.

#include "monitor/cli/simulation/command_line.h"

#include <gmock/gmock.h>

namespace idlewave::cli::simulation {
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

template <class Options>
Options taken(const std::vector<std::string>& words) {
  const Parsed result = parsed(words);
  EXPECT_TRUE(result.call && std::holds_alternative<Options>(*result.call)) << testing::PrintToString(words);
  return result.call ? std::get<Options>(*result.call) : Options{};
}

/// One line on stderr that says so, and code 2.
void refuses(const std::vector<std::string>& words, const testing::Matcher<std::string>& says) {
  testing::internal::CaptureStderr();
  const Parsed result = parsed(words);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(result.call) << testing::PrintToString(words);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(said, AllOf(StartsWith("idlewave: "), says, EndsWith("\n")));
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}
void refuses(const std::vector<std::string>& words, const char* what) {
  refuses(words, testing::Matcher<std::string>(HasSubstr(what)));
}

TEST(CommandLine, OfAScenario) {
  const auto options = taken<ScenarioOptions>({"s.toml", "--set", "machine.ranks=80", "--set", "program.steps=9",
                                               "--window", "0.6:0.85", "--step-start", "140", "--record", "s.iw",
                                               "--session", "mine", "--memory", "1 GB", "--json"});
  EXPECT_EQ(options.scenario, "s.toml");
  EXPECT_THAT(options.settings, ElementsAre("machine.ranks=80", "program.steps=9"));
  EXPECT_EQ(options.window.from, 0.6);
  EXPECT_EQ(options.window.to, 0.85);
  EXPECT_EQ(options.step_start, 140);
  EXPECT_EQ(options.record, "s.iw");
  EXPECT_EQ(options.session, "mine");
  EXPECT_EQ(options.memory, 1'000'000'000u);
  EXPECT_TRUE(options.json);
}

TEST(CommandLine, OfASweep) {
  const auto options = taken<SweepOptions>({"s.toml", "--sweep", "machine.ranks=4..5", "--sweep", "noise.seed=7,9"});
  ASSERT_EQ(options.sweep.size(), 2u);
  EXPECT_EQ(options.sweep[0].key, "machine.ranks");
  EXPECT_THAT(options.sweep[1].values, ElementsAre("7", "9"));
}

TEST(CommandLine, OfALiveRun) {
  const auto options = taken<LiveOptions>({"--realtime", "--stream", "tcp://*:5555", "s.toml", "--duration", "5s"});
  EXPECT_EQ(options.scenario, "s.toml");
  EXPECT_EQ(options.listen, "tcp://*:5555");
  EXPECT_EQ(options.duration, std::chrono::seconds(5));
  EXPECT_EQ(taken<LiveOptions>({"s.toml", "--realtime", "--connect=ipc:///x"}).connect, "ipc:///x");
}

TEST(CommandLine, OfASchedule) {
  const auto options = taken<ScheduleOptions>({"--goal", "ring.goal", "--extrapolate", "4", "-o", "large.goal"});
  EXPECT_EQ(options.schedule, "ring.goal");
  EXPECT_EQ(options.extrapolate, 4);
  EXPECT_EQ(options.output, "large.goal");
  EXPECT_EQ(taken<ScheduleOptions>({"machine.toml", "--goal=ring.goal"}).scenario, "machine.toml");
}

TEST(CommandLine, OfALiveSchedule) {
  const auto options = taken<LiveScheduleOptions>({"machine.toml", "--goal", "ring.goal", "--extrapolate", "4",
                                                   "--realtime", "--stream", "ipc:///x", "--session", "mine"});
  EXPECT_EQ(options.schedule, "ring.goal");
  EXPECT_EQ(options.scenario, "machine.toml");
  EXPECT_EQ(options.extrapolate, 4);
  EXPECT_EQ(options.listen, "ipc:///x");
  EXPECT_EQ(options.session, "mine");
  EXPECT_EQ(taken<LiveScheduleOptions>({"--goal=ring.goal", "--realtime", "--connect=ipc:///x"}).connect, "ipc:///x");
}

TEST(CommandLine, OfARecordedSession) {
  const auto options = taken<SessionOptions>({"--from", "s.iw", "--extrapolate", "3"});
  EXPECT_EQ(options.recording, "s.iw");
  EXPECT_EQ(options.extrapolate, 3);
}

TEST(CommandLine, HasTheWindowOfTheManual) {
  EXPECT_EQ(taken<ScenarioOptions>({"s.toml"}).window.from, 0.5);
  EXPECT_EQ(taken<ScenarioOptions>({"s.toml"}).window.to, 0.95);
}

TEST(CommandLine, SaysForWhatItWasTakenWhereAFlagDoesNotGoWithIt) {
  const auto goes_with = [](const char* flag, const char* others, const char* taken_for) {
    return testing::Matcher<std::string>(AllOf(HasSubstr(std::string(flag) + ": goes with " + others),
                                               HasSubstr(std::string("taken for ") + taken_for)));
  };
  refuses({"s.toml", "--threads", "3"}, goes_with("--threads", "a sweep", "one run of a scenario"));
  refuses({"s.toml", "--duration", "5s"}, goes_with("--duration", "a live run", "one run of a scenario"));
  refuses({"s.toml", "--key", "key.server"}, goes_with("--key", "a live run", "one run of a scenario"));
  refuses({"s.toml", "--extrapolate", "2"}, goes_with("--extrapolate", "a schedule", "one run of a scenario"));
  refuses({"s.toml", "--realtime", "--stream", "tcp://*:5555", "--record", "s.iw"},
          goes_with("--record", "one run of a scenario", "a live run"));
  refuses({"s.toml", "--sweep", "machine.ranks=4..5", "--record", "s.iw"},
          goes_with("--record", "one run of a scenario", "a sweep"));
  refuses({"s.toml", "--sweep", "machine.ranks=4..5", "--step-start", "3"},
          goes_with("--step-start", "one run of a scenario", "a sweep"));
  refuses({"--goal", "ring.goal", "--step-start", "3"}, goes_with("--step-start", "one run", "a schedule"));
  const std::vector<std::string> live = {"--goal", "ring.goal", "--realtime", "--stream", "tcp://*:5555"};
  const auto live_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), live.begin(), live.end());
    return more;
  };
  refuses(live_with({"--record", "s.iw"}), goes_with("--record", "one run of a scenario", "a live schedule"));
  refuses(live_with({"--without-delays"}), goes_with("--without-delays", "one run of a scenario", "a live schedule"));
  refuses(live_with({"-o", "large.goal"}), goes_with("-o", "a schedule", "a live schedule"));
  refuses({"--from", "s.iw", "--sweep", "machine.ranks=4..5"}, goes_with("--sweep", "a sweep", "a recorded session"));
  refuses({"--from", "s.iw", "s.toml"}, AllOf(HasSubstr("s.toml"), HasSubstr("a recorded session")));
}

TEST(CommandLine, RefusesHalfOfWhatAWayNeeds) {
  refuses({}, "scenario");
  refuses({"--sweep", "machine.ranks=4..5"}, "scenario");
  refuses({"s.toml", "--stream", "tcp://*:5555"}, "--realtime");
  refuses({"s.toml", "--realtime"}, "--stream");
  refuses({"--goal", "ring.goal", "-o", "large.goal"}, "--extrapolate");
  refuses({"--goal", "ring.goal", "--realtime"}, "--stream");
  refuses({"--goal", "ring.goal", "--stream", "tcp://*:5555"}, "--realtime");
}

TEST(CommandLine, RefusesValuesThatAreNone) {
  for (const char* text :
       {"0.6", "0.9:0.1", "0.5:0.5", "-0.1:0.5", "0.5:1.1", "0.1:0.5:0.9", "a:b", "nan:0.5", "0.5:0.9s", ""})
    refuses({"s.toml", "--window", text}, "--window");
  for (const char* text : {"-1", "1.5", "x"}) refuses({"s.toml", "--step-start", text}, "--step-start");
  for (const char* text : {"0", "-1", "1.5", "all", "5000"})
    refuses({"s.toml", "--sweep", "machine.ranks=4..5", "--threads", text}, "--threads");
  refuses({"s.toml", "--realtime", "--stream", "tcp://*:5555", "--duration", "5"}, "--duration");
  refuses({"s.toml", "--memory", "5"}, "--memory");
}

TEST(CommandLine, RefusesAFlagThatNoWayHas) { refuses({"s.toml", "--frobnicate"}, "--frobnicate"); }

TEST(CommandLine, TellsOfEveryWayInItsHelp) {
  testing::internal::CaptureStdout();
  const Parsed result = parsed({"--help"});
  const std::string said = testing::internal::GetCapturedStdout();
  EXPECT_FALSE(result.call);
  EXPECT_EQ(result.exit_code, 0);
  for (const char* flag : {"--sweep", "--realtime", "--goal", "--from", "--step-start", "--threads", "Ctrl-C"})
    EXPECT_THAT(said, HasSubstr(flag));
}

}  // namespace
}  // namespace idlewave::cli::simulation
