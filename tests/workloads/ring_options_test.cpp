#include "workloads/ring/command_line.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace idlewave::ring {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Parsed = wire::Result<std::variant<Options, Text>>;

Parsed parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "iw-ring");
  return parse_options(static_cast<int>(arguments.size()), arguments.data(), 40);
}

Options options(const std::vector<const char*>& arguments) {
  const Parsed parsed = parse(arguments);
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? std::get<Options>(*parsed) : Options{};
}

std::string complaint(const std::vector<const char*>& arguments) {
  const Parsed parsed = parse(arguments);
  return parsed ? "" : parsed.error().message;
}

TEST(RingOptions, RunTheMemoryBoundReferenceMachineByDefault) {
  const Options o = options({});
  EXPECT_EQ(o.kernel, Kernel::kMemory);
  EXPECT_EQ(o.volume, 100'000'000u);
  EXPECT_EQ(o.steps, 200);
  EXPECT_EQ(o.ranks_per_domain, 10);
  EXPECT_THAT(o.distances, ElementsAre(-1, 1));
}

TEST(RingOptions, SeveralNumbersOfRanksOnASocketAreASeries) {
  const Options one = options({"--ranks-per-domain", "7"});
  EXPECT_EQ(one.ranks_per_domain, 7);
  EXPECT_TRUE(one.series.empty());
  const Options o = options({"--ranks-per-domain", "3,12,5", "--delay", "11:2:1s"});
  EXPECT_THAT(o.series, ElementsAre(3, 12, 5));
  for (const int on_socket : o.series) {
    for (const Rank job : {1, 7, 12, 13, 40, 48}) {
      int counted = 0;
      for (Rank rank = 0; rank < job; ++rank) counted += takes_part(o, rank, on_socket) ? 1 : 0;
      EXPECT_EQ(ranks_of_run(o, job, on_socket), counted) << on_socket << " of " << job;
    }
  }
}

TEST(RingOptions, TakeTheSocketsOfAMachineFile) {
  const auto file = std::filesystem::temp_directory_path() / "idlewave-ring-machine.toml";
  std::ofstream(file) << "[machine]\nranks_per_domain = 6\ncurve = [\"9 GB/s\", \"17 GB/s\", \"21 GB/s\"]\n";
  const Options o = options({"--machine", file.c_str()});
  EXPECT_EQ(o.ranks_per_domain, 6);
  EXPECT_THAT(o.curve, ElementsAre(9e9, 17e9, 21e9));
  EXPECT_EQ(o.core_bandwidth, 9e9);
  EXPECT_EQ(o.domain_bandwidth, 21e9);
  EXPECT_EQ(o.volume, 100'000'000u);
  EXPECT_EQ(options({"--machine", file.c_str(), "--ranks-per-domain", "3"}).ranks_per_domain, 3);
  EXPECT_THAT(options({"--machine", file.c_str(), "--ranks-per-domain", "3,5"}).series, ElementsAre(3, 5));
  EXPECT_THAT(complaint({"--machine", file.c_str(), "--core-bandwidth", "1GB/s"}),
              HasSubstr("the machine file says that"));
  EXPECT_THAT(complaint({"--machine", file.c_str(), "--kernel", "triad"}),
              HasSubstr("goes with --kernel virtual only"));
  std::ofstream(file) << "[machine]\nranks_per_domain = 6\ncurves = 3\n";
  EXPECT_THAT(complaint({"--machine", file.c_str()}),
              HasSubstr("idlewave-ring-machine.toml:3: machine.curves: is not known"));
  std::filesystem::remove(file);
  EXPECT_THAT(complaint({"--machine", file.c_str()}), HasSubstr("give the path of a machine file"));
}

TEST(RingOptions, ARankHasOneThreadUnlessMoreAreAskedFor) {
  EXPECT_EQ(options({}).threads, 1);
  EXPECT_EQ(options({"--threads", "10", "--ranks-per-domain", "1"}).threads, 10);
  EXPECT_THAT(complaint({"--threads", "0"}), HasSubstr("from 1 to 1024"));
}

TEST(RingOptions, RefuseASeriesThatCannotBe) {
  EXPECT_THAT(complaint({"--ranks-per-domain", "3,41"}),
              HasSubstr("need more than the 40 of the job; start it with mpirun -n 41"));
  EXPECT_THAT(complaint({"--ranks-per-domain", "3,12", "--delay", "13:2:1s"}),
              HasSubstr("the run with 3 on a socket has no rank 13; its ranks go from 0 to 11"));
  EXPECT_THAT(complaint({"--ranks-per-domain", "3,0"}), HasSubstr("from 1 to"));
  EXPECT_THAT(complaint({"--ranks-per-domain", "3,"}), HasSubstr("--ranks-per-domain"));
  EXPECT_THAT(complaint({"--ranks-per-domain", "1,2", "--kernel", "triad"}),
              HasSubstr("goes with --kernel virtual only"));
  std::string many = "1";
  for (int i = 0; i < 32; ++i) many += ",2";
  EXPECT_THAT(complaint({"--ranks-per-domain", many.c_str(), "--wait", "split"}),
              HasSubstr("33 runs of 2 waits are more than 64"));
  EXPECT_EQ(complaint({"--ranks-per-domain", many.c_str()}), "");
}

TEST(RingOptions, ATimePerStepMakesAVirtualStepCoreBound) {
  const Options o = options({"--time", "20ms"});
  EXPECT_EQ(o.kernel, Kernel::kCore);
  EXPECT_EQ(o.volume, 0u);
  EXPECT_EQ(o.time, 20ms);
}

TEST(RingOptions, ADurationLiftsTheLimitOfSteps) {
  EXPECT_EQ(options({"--duration", "12s"}).steps, 0);
  EXPECT_EQ(options({"--duration", "12s", "--steps", "7"}).steps, 7);
  EXPECT_EQ(options({"--steps", "0"}).steps, 0);
}

TEST(RingOptions, TakeNegativeDistances) {
  EXPECT_THAT(options({"--distances", "-1,1"}).distances, ElementsAre(-1, 1));
  EXPECT_THAT(options({"--distances=1,-1,-2"}).distances, ElementsAre(1, -1, -2));
  EXPECT_THAT(options({"--distances", "3"}).distances, ElementsAre(3));
}

TEST(RingOptions, TakeSeveralDelays) {
  const Options o = options({"--delay", "5:100:2.4s", "--delay", "7:3:250ms"});
  ASSERT_EQ(o.delays.size(), 2u);
  EXPECT_EQ(o.delays[0].rank, 5);
  EXPECT_EQ(o.delays[0].step, 100);
  EXPECT_EQ(o.delays[0].duration, 2400ms);
  EXPECT_EQ(o.delays[1].rank, 7);
}

TEST(RingOptions, TakeNoiseWindowAndWords) {
  const Options o =
      options({"--noise", "exp:0.5ms", "--seed", "9", "--window", "0.6:0.9", "--wait", "split", "--protocol",
               "rendezvous", "--topology", "chain", "--message-size", "64 KiB", "--no-pin", "--json"});
  EXPECT_EQ(std::get<support::ExponentialNoise>(o.noise.distribution).mean, 500us);
  EXPECT_EQ(o.noise.seed, 9u);
  EXPECT_DOUBLE_EQ(o.window.from, 0.6);
  EXPECT_DOUBLE_EQ(o.window.to, 0.9);
  EXPECT_EQ(o.wait, WaitFlavour::kSplit);
  EXPECT_EQ(o.protocol, Protocol::kRendezvous);
  EXPECT_EQ(o.topology, Topology::kChain);
  EXPECT_EQ(o.message_size, 65536);
  EXPECT_FALSE(o.pin);
  EXPECT_TRUE(o.json);
}

TEST(RingOptions, TakeInterruptionsAtAFrequency) {
  const Options o = options({"--noise", "periodic:2.5ms@10Hz"});
  const auto& noise = std::get<support::PeriodicNoise>(o.noise.distribution);
  EXPECT_EQ(noise.duration, 2500us);
  EXPECT_EQ(noise.frequency, 10);
}

TEST(RingOptions, TakeTheProfilesOfWidenerByName) {
  EXPECT_TRUE(std::holds_alternative<support::SystemNoise>(options({"--noise", "system"}).noise.distribution));
  const auto daemon = std::get<support::PeriodicNoise>(options({"--noise", "daemon"}).noise.distribution);
  EXPECT_EQ(daemon.duration, 2500us);
  EXPECT_EQ(daemon.frequency, 10);
  const auto checkpoint = std::get<support::PeriodicNoise>(options({"--noise", "checkpoint"}).noise.distribution);
  EXPECT_EQ(checkpoint.duration, 1s);
  EXPECT_DOUBLE_EQ(checkpoint.frequency * 120, 1);
}

TEST(RingOptions, ReadTheTraceThatTheirNoiseNames) {
  const std::string path = testing::TempDir() + "ring_options_trace.txt";
  std::ofstream{path} << "1000\t20\n5000\t0\n";
  const std::string noise = "trace:" + path;
  const Options o = options({"--noise", noise.c_str()});
  ASSERT_EQ(o.noise_trace.size(), 2u);
  EXPECT_EQ(o.noise_trace[0].start, 1us);
  EXPECT_EQ(o.noise_trace[1].start, 5us);
  std::filesystem::remove(path);
  EXPECT_THAT(complaint({"--noise", noise.c_str()}), HasSubstr(path));
}

TEST(RingOptions, RefuseBadInputInOneLineThatNamesTheFlag) {
  const std::vector<std::vector<const char*>> bad = {{"--volume", "100"},
                                                     {"--volume", "0 B"},
                                                     {"--steps", "-1"},
                                                     {"--steps", "1.5"},
                                                     {"--duration", "12"},
                                                     {"--kernel", "quad"},
                                                     {"--distances", "1,,2"},
                                                     {"--distances", "x"},
                                                     {"--delay", "5:100"},
                                                     {"--delay", "5:100:2"},
                                                     {"--delay", "40:1:1s"},
                                                     {"--delay", "-1:1:1s"},
                                                     {"--delay", "1:200:1s"},
                                                     {"--noise", "0.5ms"},
                                                     {"--noise", "exp:1"},
                                                     {"--noise", "daemons"},
                                                     {"--noise", "trace:"},
                                                     {"--window", "0.9:0.6"},
                                                     {"--window", "0:2"},
                                                     {"--window", "nan:1"},
                                                     {"--protocol", "fast"},
                                                     {"--message-size", "3GB"},
                                                     {"--ranks-per-domain", "0"},
                                                     {"--core-bandwidth", "10GB"},
                                                     {"--domain-bandwidth", "-1 B/s"},
                                                     {"--time", "0 s"},
                                                     {"--seed", "-1"},
                                                     {"--wait", "never"},
                                                     {"--topology", "torus"},
                                                     {"--warmup", "x"},
                                                     {"--waiting", "badly"}};
  for (const auto& arguments : bad) {
    const std::string message = complaint(arguments);
    EXPECT_THAT(message, HasSubstr(arguments[0])) << arguments[1];
    EXPECT_THAT(message, Not(HasSubstr("\n")));
  }
}

TEST(RingOptions, RefuseUnknownFlagsAndWordsWithoutOne) {
  EXPECT_THAT(complaint({"--volumes", "1 MB"}), HasSubstr("--volumes"));
  EXPECT_THAT(complaint({"hello"}), HasSubstr("hello"));
  EXPECT_THAT(complaint({"--volume"}), HasSubstr("--volume"));
}

TEST(RingOptions, RefuseWhatDoesNotGoTogether) {
  EXPECT_THAT(complaint({"--kernel", "triad", "--time", "10ms"}), HasSubstr("--time"));
  EXPECT_THAT(complaint({"--kernel", "divide", "--volume", "1 MB"}), HasSubstr("--volume"));
  EXPECT_THAT(complaint({"--time", "10ms", "--volume", "1 MB"}), HasSubstr("--volume"));
  EXPECT_THAT(complaint({"--kernel", "triad", "--ranks-per-domain", "4"}), HasSubstr("--ranks-per-domain"));
}

TEST(RingOptions, HelpExplainsEachFlagWithItsSource) {
  const Parsed parsed = parse({"--help"});
  ASSERT_TRUE(parsed);
  const std::string& help = std::get<Text>(*parsed).text;
  for (const char* flag :
       {"--kernel", "--volume", "--distances", "--protocol", "--wait ", "--warmup", "--delay", "--noise", "--pin"}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
  EXPECT_THAT(help, HasSubstr("AHW20 eq. 2"));
  std::string in_one_line = help;
  std::ranges::replace(in_one_line, '\n', ' ');
  for (const char* figure : {"1 and 5 by --time", "2 by --ranks-per-domain", "3 by --kernel", "4a is active_mean",
                             "6 by --message-size", "7 by --ranks-per-domain 1"}) {
    EXPECT_THAT(in_one_line, HasSubstr(figure));
  }
}

}  // namespace
}  // namespace idlewave::ring
