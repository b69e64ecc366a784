#include "workloads/support/scenario.h"

#include <gmock/gmock.h>

#include <filesystem>

namespace idlewave::support {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string kGood = R"([machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"

[program]
steps = 200
kernel = "memory"
volume = "50 MB"

[communication]
topology = "chain"
distances = [1, -1, -2]
protocol = "rendezvous"
wait = "split"
time = "5 us"

[[delay]]
rank = 5
step = 7
duration = "1.2 s"

[[delay]]
rank = 6
step = 8
duration = "3 ms"

[noise]
distribution = "exponential"
mean = "0.5 ms"
seed = 3
)";

Scenario read(const std::string& text, std::vector<std::string> overrides = {}) {
  const auto scenario = parse_scenario(text, "test.toml", overrides);
  EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
  return scenario ? *scenario : Scenario{};
}

std::string complaint(const std::string& text, std::vector<std::string> overrides = {}) {
  const auto scenario = parse_scenario(text, "test.toml", overrides);
  return scenario ? "" : scenario.error().message;
}

/// kGood with one piece of text replaced.
std::string with(const std::string& before, const std::string& after) {
  std::string text = kGood;
  return text.replace(text.find(before), before.size(), after);
}

TEST(Scenario, ReadsMachineAndProgram) {
  const Scenario scenario = read(kGood);
  EXPECT_EQ(scenario.machine.ranks, 40);
  EXPECT_EQ(scenario.machine.ranks_per_domain, 10);
  EXPECT_DOUBLE_EQ(scenario.machine.core_bandwidth, 10e9);
  EXPECT_DOUBLE_EQ(scenario.machine.domain_bandwidth, 50e9);
  EXPECT_EQ(scenario.program.steps, 200);
  EXPECT_EQ(scenario.program.kernel, Kernel::kMemory);
  EXPECT_EQ(scenario.program.volume, 50'000'000u);
}

TEST(Scenario, ReadsCommunication) {
  const Communication communication = read(kGood).communication;
  EXPECT_EQ(communication.topology, Topology::kChain);
  EXPECT_THAT(communication.distances, ElementsAre(1, -1, -2));
  EXPECT_EQ(communication.protocol, Protocol::kRendezvous);
  EXPECT_EQ(communication.wait, WaitFlavour::kSplit);
  EXPECT_EQ(communication.time, 5us);
  EXPECT_FALSE(communication.loggops);
}

TEST(Scenario, ReadsEveryDelay) {
  const Scenario scenario = read(kGood);
  ASSERT_EQ(scenario.delays.size(), 2u);
  EXPECT_EQ(scenario.delays[0].rank, 5);
  EXPECT_EQ(scenario.delays[0].step, 7);
  EXPECT_EQ(scenario.delays[0].duration, 1200ms);
  EXPECT_EQ(scenario.delays[1].rank, 6);
}

TEST(Scenario, ReadsEachKindOfNoise) {
  const Noise exponential = read(kGood).noise;
  EXPECT_EQ(std::get<ExponentialNoise>(exponential.distribution).mean, 500us);
  EXPECT_EQ(exponential.seed, 3u);
  const Noise periodic =
      read(with("\"exponential\"\nmean = \"0.5 ms\"", "\"periodic\"\nduration = \"2.5 ms\"\nfrequency = \"10 Hz\""))
          .noise;
  EXPECT_EQ(std::get<PeriodicNoise>(periodic.distribution).duration, 2500us);
  EXPECT_DOUBLE_EQ(std::get<PeriodicNoise>(periodic.distribution).frequency, 10);
  const Noise trace = read(with("\"exponential\"\nmean = \"0.5 ms\"", "\"trace\"\nfile = \"noise.csv\"")).noise;
  EXPECT_EQ(std::get<TraceNoise>(trace.distribution).file, "noise.csv");
}

Noise noise_of(const std::string& keys) {
  return read(with("distribution = \"exponential\"\nmean = \"0.5 ms\"", keys)).noise;
}
std::string noise_complaint(const std::string& keys) {
  return complaint(with("distribution = \"exponential\"\nmean = \"0.5 ms\"", keys));
}

TEST(Scenario, ReadsNoiseThatIsDrawnForEachPhase) {
  const Noise uniform = noise_of("distribution = \"uniform\"\nmean = \"2 ms\"");
  EXPECT_EQ(std::get<UniformNoise>(uniform.distribution).mean, 2ms);
  const Noise gamma = noise_of("distribution = \"gamma\"\nshape = 2.5\nmean = \"3 ms\"");
  EXPECT_DOUBLE_EQ(std::get<GammaNoise>(gamma.distribution).shape, 2.5);
  EXPECT_EQ(std::get<GammaNoise>(gamma.distribution).mean, 3ms);
  const Noise rare = noise_of("distribution = \"rare\"\nprobability = 0.001\nduration = \"20 ms\"");
  EXPECT_DOUBLE_EQ(std::get<RareNoise>(rare.distribution).probability, 0.001);
  EXPECT_EQ(std::get<RareNoise>(rare.distribution).duration, 20ms);
}

TEST(Scenario, KnowsTheNoiseProfilesOfTheLiteratureByName) {
  const auto daemon = std::get<PeriodicNoise>(noise_of("distribution = \"daemon\"").distribution);
  EXPECT_EQ(daemon.duration, 2500us);
  EXPECT_DOUBLE_EQ(daemon.frequency, 10);
  const auto checkpoint = std::get<PeriodicNoise>(noise_of("distribution = \"checkpoint\"").distribution);
  EXPECT_EQ(checkpoint.duration, 1s);
  EXPECT_DOUBLE_EQ(checkpoint.frequency, 1.0 / 120);
  EXPECT_EQ(checkpoint.phase, NoisePhase::kOwn);
  EXPECT_TRUE(std::holds_alternative<SystemNoise>(noise_of("distribution = \"system\"").distribution));
}

TEST(Scenario, LetsInterruptionsComeOnAllRanksAtTheSameMoment) {
  const std::string same = "\nphase = \"same\"";
  EXPECT_EQ(std::get<PeriodicNoise>(noise_of("distribution = \"checkpoint\"" + same).distribution).phase,
            NoisePhase::kSame);
  EXPECT_EQ(std::get<SystemNoise>(noise_of("distribution = \"system\"" + same).distribution).phase, NoisePhase::kSame);
  EXPECT_EQ(std::get<TraceNoise>(noise_of("distribution = \"trace\"\nfile = \"a\"" + same).distribution).phase,
            NoisePhase::kSame);
  EXPECT_THAT(noise_complaint("distribution = \"daemon\"\nphase = \"mine\""),
              HasSubstr("noise.phase: \"mine\" is not one of own, same"));
}

TEST(Scenario, RefusesNoiseOutOfRange) {
  EXPECT_THAT(noise_complaint("distribution = \"rare\"\nprobability = 1.5\nduration = \"20 ms\""),
              StartsWith("test.toml:31: noise.probability: must be a number from 0 to 1"));
  EXPECT_THAT(noise_complaint("distribution = \"rare\"\nprobability = \"1 %\"\nduration = \"20 ms\""),
              HasSubstr("without a unit"));
  EXPECT_THAT(noise_complaint("distribution = \"gamma\"\nshape = 0\nmean = \"1 ms\""),
              HasSubstr("noise.shape: must be a number from 0.01"));
  EXPECT_THAT(noise_complaint("distribution = \"gamma\"\nshape = nan\nmean = \"1 ms\""),
              HasSubstr("noise.shape: must be a number"));
  EXPECT_THAT(noise_complaint("distribution = \"uniform\"\nmean = 1"), HasSubstr("has no unit"));
}

TEST(Scenario, RefusesAKeyOfAnotherKindOfNoise) {
  EXPECT_THAT(noise_complaint("distribution = \"daemon\"\nmean = \"1 ms\""),
              HasSubstr("noise.mean: is not known here"));
  EXPECT_THAT(noise_complaint("distribution = \"rare\"\nduration = \"1 ms\""),
              HasSubstr("noise.probability: is missing; write probability = 0.001"));
  EXPECT_THAT(noise_complaint("distribution = \"pink\""),
              HasSubstr("\"pink\" is not one of exponential, uniform, gamma"));
}

TEST(Scenario, IsSilentWithoutNoise) {
  const Scenario scenario = read(kGood.substr(0, kGood.find("[noise]")));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(scenario.noise.distribution));
}

TEST(Scenario, ReadsLogGopsParameters) {
  const Communication communication = read(with("time = \"5 us\"", R"(L = "2500 ns"
o = "1 us"
G = "6ns/B"
S = "65535 B"
message_size = "8 B")"))
                                          .communication;
  ASSERT_TRUE(communication.loggops);
  EXPECT_EQ(communication.loggops->latency, 2500ns);
  EXPECT_EQ(communication.loggops->overhead, 1us);
  EXPECT_DOUBLE_EQ(communication.loggops->gap_per_byte, 6e-9);
  EXPECT_EQ(communication.loggops->rendezvous_size, 65535u);
  EXPECT_EQ(communication.message_size, 8u);
}

TEST(Scenario, AcceptsACurveInsteadOfTwoBandwidths) {
  const Machine machine = read(with("core_bandwidth = \"10 GB/s\"\ndomain_bandwidth = \"50 GB/s\"",
                                    "curve = [\"10 GB/s\", \"19 GB/s\", \"24 GB/s\"]"))
                              .machine;
  EXPECT_THAT(machine.curve, ElementsAre(10e9, 19e9, 24e9));
  EXPECT_DOUBLE_EQ(machine.core_bandwidth, 10e9);
  EXPECT_DOUBLE_EQ(machine.domain_bandwidth, 24e9);
}

TEST(Scenario, AcceptsRanksThatDoNotFillTheLastDomain) {
  EXPECT_EQ(read(with("ranks = 40", "ranks = 37")).machine.ranks, 37);
}

TEST(Scenario, NamesFileLineAndKeyOfAnUnknownKey) {
  EXPECT_THAT(complaint(with("ranks = 40", "rank = 40")),
              AllOf(StartsWith("test.toml:2: machine.rank: is not known"), HasSubstr("ranks_per_domain")));
}

TEST(Scenario, RefusesAnUnknownTable) {
  EXPECT_THAT(complaint(kGood + "[nosie]\nmean = 1\n"), AllOf(StartsWith("test.toml:33: nosie: is not known"),
                                                              HasSubstr("known: machine, program, communication")));
}

TEST(Scenario, RefusesANumberWithoutItsUnit) {
  EXPECT_THAT(complaint(with("\"50 MB\"", "50")),
              AllOf(StartsWith("test.toml:10: program.volume: "), HasSubstr("\"50\" has no unit")));
}

TEST(Scenario, RefusesValuesOutOfRange) {
  EXPECT_THAT(complaint(with("ranks = 40", "ranks = 0")),
              StartsWith("test.toml:2: machine.ranks: must be a whole number from 1"));
  EXPECT_THAT(complaint(with("steps = 200", "steps = -1")), StartsWith("test.toml:8: program.steps"));
  EXPECT_THAT(complaint(with("ranks = 40", "ranks = 1e3")), StartsWith("test.toml:2: machine.ranks"));
  EXPECT_THAT(complaint(with("ranks = 40", "ranks = 99999999999")), StartsWith("test.toml:2: machine.ranks"));
  EXPECT_THAT(complaint(with("[1, -1, -2]", "[]")), StartsWith("test.toml:14: communication.distances"));
  EXPECT_THAT(complaint(with("\"50 MB\"", "\"0 B\"")), StartsWith("test.toml:10: program.volume: must be above zero"));
}

TEST(Scenario, RefusesADelayOutsideTheRun) {
  EXPECT_THAT(complaint(with("rank = 5", "rank = 40")),
              StartsWith("test.toml:20: delay.rank: must be a whole number from 0 to 39"));
  EXPECT_THAT(complaint(with("step = 7", "step = 200")), StartsWith("test.toml:21: delay.step"));
}

TEST(Scenario, RefusesAWordThatIsNoChoice) {
  EXPECT_THAT(complaint(with("\"chain\"", "\"torus\"")),
              StartsWith("test.toml:13: communication.topology: \"torus\" is not one of ring, chain"));
}

TEST(Scenario, NamesAMissingKeyWithAnExample) {
  EXPECT_THAT(complaint(with("volume = \"50 MB\"", "")),
              AllOf(HasSubstr("program.volume: is missing"), HasSubstr("volume = \"50 MB\"")));
  EXPECT_THAT(complaint(with("core_bandwidth = \"10 GB/s\"", "")), HasSubstr("machine.core_bandwidth: is missing"));
  EXPECT_THAT(complaint(""), HasSubstr("is missing"));
}

TEST(Scenario, RefusesTwoWaysOfSayingTheSame) {
  EXPECT_THAT(complaint(with("ranks_per_domain = 10", "ranks_per_domain = 10\ncurve = [\"1 GB/s\"]")),
              HasSubstr("either the curve"));
  EXPECT_THAT(complaint(with("wait = \"split\"", "wait = \"split\"\nL = \"1 us\"")), HasSubstr("exclude each other"));
}

TEST(Scenario, TakesAnIntervalForTheFrequencyOfNoise) {
  const std::string noise = "distribution = \"periodic\"\nduration = \"1 s\"\n";
  EXPECT_DOUBLE_EQ(std::get<PeriodicNoise>(noise_of(noise + "interval = \"120 s\"").distribution).frequency, 1 / 120.0);
  EXPECT_THAT(noise_complaint(noise + "interval = \"120 s\"\nfrequency = \"10 Hz\""), HasSubstr("one of them"));
  EXPECT_THAT(noise_complaint(noise + "interval = \"0 s\""), HasSubstr("noise.interval: must be above 0"));
  EXPECT_THAT(noise_complaint(noise + "interval = \"1 s\""), HasSubstr("leaves no time to work"));
}

TEST(Scenario, RefusesNoiseThatLeavesNoTimeForWork) {
  EXPECT_THAT(
      complaint(with("\"exponential\"\nmean = \"0.5 ms\"", "\"periodic\"\nduration = \"2 s\"\nfrequency = \"1 Hz\"")),
      HasSubstr("leaves no time to work"));
}

TEST(Scenario, NamesTheLineOfASyntaxError) {
  EXPECT_THAT(complaint("[machine]\nranks = = 4\n"), StartsWith("test.toml:2: "));
}

std::string dots(int count) {
  std::string text = "a";
  for (int i = 0; i < count; ++i) text += ".a";
  return text;
}

TEST(Scenario, AKeyOfAHundredThousandDotsEndsNoStack) {
  const std::string deep = dots(100'000), line = "\n" + deep + " = 1\n";
  for (const std::string& text :
       {deep + " = 1\n", "[" + deep + "]\n", "x = {" + deep + " = 1}\n", R"(x = """a"""")" + line,
        R"(x = {y = """a""""", )" + deep + " = 1}\n", "x = '''a'''''" + line, R"(x = "\"")" + line, "# '" + line,
        R"("a" . 'b' .)" + deep + " = 1\n"}) {
    EXPECT_THAT(complaint(text), AllOf(StartsWith("test.toml:"), HasSubstr("more than 8 parts"))) << text.substr(0, 40);
  }
  EXPECT_THAT(complaint(kGood, {deep + "=1"}), HasSubstr("more than 8 parts"));
  EXPECT_THAT(complaint(kGood, {"machine.curve={" + deep + "=1}"}), HasSubstr("more than 8 parts"));
}

TEST(Scenario, DotsThatPartNoKeysAreNotCounted) {
  EXPECT_EQ(complaint(kGood + R"(
[lesson] # ....................
title = "..................."
summary = '.................'
figure = """
...................."""
)"),
            "");
  EXPECT_THAT(complaint(kGood, {"noise.file=../../../../../../../../../n.csv"}), Not(HasSubstr("parts")));
}

TEST(Scenario, HasAtMostAsManyRanksAsASessionCanHold) {
  EXPECT_EQ(complaint(with("ranks = 40", "ranks = 4194304")), "");
  EXPECT_THAT(complaint(with("ranks = 40", "ranks = 4194305")), HasSubstr("from 1 to 4194304"));
}

TEST(Scenario, RefusesATableWhereAValueBelongsAndTheReverse) {
  EXPECT_THAT(complaint("machine = 3\n"), HasSubstr("machine: must be a table"));
  EXPECT_THAT(complaint("delay = 3\n" + kGood.substr(0, kGood.find("[[delay]]"))),
              HasSubstr("delay: must be a list of tables"));
  EXPECT_THAT(complaint(with("ranks = 40", "ranks = [40]")), StartsWith("test.toml:2: machine.ranks"));
}

TEST(ScenarioOverride, TakesNumbersQuantitiesWordsAndLists) {
  const Scenario scenario = read(kGood, {"machine.ranks=4000", "program.volume=2 GB", "communication.topology=ring",
                                         "communication.distances=[-1, 1]", "delay.1.rank=39", "noise.seed = 9"});
  EXPECT_EQ(scenario.machine.ranks, 4000);
  EXPECT_EQ(scenario.program.volume, 2'000'000'000u);
  EXPECT_EQ(scenario.communication.topology, Topology::kRing);
  EXPECT_THAT(scenario.communication.distances, ElementsAre(-1, 1));
  ASSERT_EQ(scenario.delays.size(), 2u);
  EXPECT_EQ(scenario.delays[1].rank, 39);
  EXPECT_EQ(scenario.noise.seed, 9u);
}

TEST(ScenarioOverride, TheLastOneWins) {
  EXPECT_EQ(read(kGood, {"machine.ranks=50", "machine.ranks=60"}).machine.ranks, 60);
}

TEST(ScenarioOverride, KnowsTheNetworkByItsOwnName) {
  const std::string no_time = with("time = \"5 us\"", "");
  EXPECT_EQ(read(no_time, {"loggops.L=2500ns"}).communication.loggops->latency, 2500ns);
}

TEST(ScenarioOverride, CanTurnAMemoryBoundProgramIntoACoreBoundOne) {
  const Scenario scenario = read(kGood, {"program.kernel=core", "program.time=10ms"});
  EXPECT_EQ(scenario.program.kernel, Kernel::kCore);
  EXPECT_EQ(scenario.program.time, 10ms);
}

TEST(ScenarioOverride, IsNamedWhenItIsWrong) {
  EXPECT_THAT(complaint(kGood, {"machine.ranks=0"}),
              StartsWith("--set machine.ranks=0: machine.ranks: must be a whole number"));
  EXPECT_THAT(complaint(kGood, {"machine.rnks=4"}), StartsWith("--set machine.rnks=4: machine.rnks: is not known"));
  EXPECT_THAT(complaint(kGood, {"program.volume=50"}),
              AllOf(StartsWith("--set program.volume=50: "), HasSubstr("no unit")));
}

TEST(ScenarioOverride, RefusesWhatIsNoAssignment) {
  for (const char* text : {"machine.ranks", "ranks=4", "=4", "", "delay.7.rank=1", "machine.ranks.x=1", "machine.=4",
                           "program.volume=\"\n"}) {
    EXPECT_NE(complaint(kGood, {text}), "") << text;
  }
}

TEST(ScenarioFile, ThatDoesNotExistIsNamed) {
  const auto scenario = load_scenario("/nonexistent/x.toml");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(scenario.error().message, StartsWith("/nonexistent/x.toml: can't be read"));
}

TEST(ScenarioFile, EachLessonThatIsShippedIsCompleteAndFitsItsList) {
  int lessons = 0;
  for (const auto& entry : std::filesystem::directory_iterator(IDLEWAVE_SCENARIOS)) {
    if (entry.path().extension() != ".toml") continue;
    const auto scenario = load_lesson(entry.path());
    ASSERT_TRUE(scenario) << scenario.error().message;
    ASSERT_TRUE(scenario->lesson || scenario->study) << entry.path();
    if (!scenario->lesson) continue;
    EXPECT_LE(scenario->lesson->summary.size(), 90u) << entry.path();
    EXPECT_FALSE(scenario->lesson->pages.empty() || scenario->lesson->source.empty() ||
                 scenario->lesson->figure.empty())
        << entry.path();
    // Its delays are what is ordered without a student; ranks that call collectives take no orders.
    const bool takes_orders = !scenario->play && !scenario->communication.collective;
    EXPECT_NE(scenario->delays.empty(), takes_orders) << entry.path();
    ++lessons;
  }
  EXPECT_GE(lessons, 3);
}

const std::string kPlayed = R"([play]
program = "iw-hybrid"
ranks = 2
arguments = ["--threads", "8"]
[lesson]
title = "T"
summary = "S"
)";

TEST(Scenario, NamesAllThatATableMayHaveBesideAKeyThatIsNotKnown) {
  EXPECT_EQ(complaint(with("topology = \"chain\"", "collectiv = \"allreduce\"")),
            "test.toml:13: communication.collectiv: is not known here; known: topology, distances, protocol, wait, "
            "message_size, time, L, o, g, G, O, S, collective, algorithm, mode, root");
  EXPECT_EQ(
      complaint(kGood + "[lesson]\ntitle = \"T\"\nsummary = \"S\"\n[[lesson.page]]\ntext = \"t\"\nhold = \"1 s\"\n"),
      "test.toml:38: lesson.page.hold: is not known here; known: text, after, premise, premise_sockets, ask, do, "
      "until, check, say");
}

TEST(PlayedProgram, IsReadWithItsArguments) {
  const auto lesson = parse_lesson(kPlayed, "l.toml");
  ASSERT_TRUE(lesson) << lesson.error().message;
  ASSERT_TRUE(lesson->play);
  EXPECT_EQ(lesson->play->name, "iw-hybrid");
  EXPECT_EQ(lesson->play->arguments, (std::vector<std::string>{"--threads", "8"}));
  EXPECT_EQ(lesson->machine.ranks, 2);
}

TEST(PlayedProgram, IsNoScenarioForAnybodyElse) {
  const auto scenario = parse_scenario(kPlayed, "l.toml");
  ASSERT_FALSE(scenario);
  EXPECT_EQ(scenario.error().message,
            "l.toml:2: play.program: is played by `idlewave demo` alone; give a scenario without [play]");
}

TEST(PlayedProgram, IsRefusedByLineAndKeyWithWhatWouldBeAccepted) {
  struct Mistake {
    std::string part, instead, says;
  };
  const std::vector<Mistake> mistakes = {
      {"\"iw-hybrid\"", "\"iw-ring\"",
       "l.toml:2: play.program: \"iw-ring\" is not one of iw-chebfd, iw-collectives, iw-contention, iw-heat, "
       "iw-hybrid, iw-orthogonal, iw-progress, iw-selfish, iw-spmv, iw-topology"},
      {"program = \"iw-hybrid\"", "", "l.toml:1: play.program: is missing; write program = \"iw-hybrid\""},
      {"[\"--threads\", \"8\"]", "\"--threads 8\"",
       "l.toml:4: play.arguments: must be a list with at least one entry, in [ ]"},
      {"[\"--threads\", \"8\"]", "[\"--threads\", 8]", "l.toml:4: play.arguments: must be a text in quotes"},
      {"[\"--threads\", \"8\"]", "[\"--json\"]",
       "l.toml:4: play.arguments: --json is given by the lesson; leave it out"},
      {"ranks = 2", "", "l.toml:1: play.ranks: is missing; write ranks = 2, or ranks_per_core = 1"},
      {"ranks = 2", "ranks = 0", "l.toml:3: play.ranks: must be a whole number from 1 to "},
      {"ranks = 2", "ranks = 2\nranks_per_core = 1",
       "l.toml:4: play.ranks_per_core: and ranks exclude each other; give one of both"},
      {"ranks = 2", "rank = 2", "l.toml:3: play.rank: is not known here; known: program, arguments, ranks, "},
      {"[lesson]", "[program]\nsteps = 1\n[lesson]", "l.toml:5: program: is not known here; known: play, lesson"},
      {"[lesson]\ntitle = \"T\"\nsummary = \"S\"\n", "",
       "l.toml:2: play.program: is played for a lesson; add [lesson]"},
  };
  for (const Mistake& mistake : mistakes) {
    std::string text = kPlayed;
    text.replace(text.find(mistake.part), mistake.part.size(), mistake.instead);
    const auto lesson = parse_lesson(text, "l.toml");
    ASSERT_FALSE(lesson) << text;
    EXPECT_THAT(lesson.error().message, StartsWith(mistake.says));
  }
}

const std::string kCollective = R"([machine]
ranks = 8
ranks_per_domain = 4

[program]
steps = 3
kernel = "core"
time = "1 ms"

[communication]
collective = "gather"
root = 7
mode = "nonblocking"
message_size = "8 B"
L = "2 us"

[study]
summary = "One line"
sweep = ["machine.ranks=2,4", "noise.seed=1..3"]
against = "communication.mode=ideal"
)";

TEST(Scenario, ACollectiveHasAnAlgorithmAModeARootAndANetwork) {
  const Scenario scenario = read(kCollective);
  const auto& collective = scenario.communication.collective.value();
  EXPECT_EQ(collective.kind, CollectiveKind::kGather);
  EXPECT_EQ(collective.algorithm, CollectiveAlgorithm::kBinomial);
  EXPECT_EQ(collective.mode, CollectiveMode::kNonblocking);
  EXPECT_EQ(collective.root, 7);
  EXPECT_EQ(scenario.communication.loggops->latency, 2us);
  const auto other = read(kCollective, {"communication.collective=allgather", "communication.algorithm=bruck"});
  EXPECT_EQ(other.communication.collective->algorithm, CollectiveAlgorithm::kBruck);
}

TEST(Scenario, AStudySaysWhatToSweepAndWithWhatToCompare) {
  const auto study = read(kCollective).study.value();
  EXPECT_EQ(study.summary, "One line");
  EXPECT_THAT(study.sweep, ElementsAre("machine.ranks=2,4", "noise.seed=1..3"));
  EXPECT_EQ(study.against, "communication.mode=ideal");
  EXPECT_FALSE(read(kGood).study);
}

}  // namespace
}  // namespace idlewave::support
