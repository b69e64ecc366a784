// A scenario file on the command line of iw-ring.

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "workloads/ring/command_line.h"

namespace idlewave::ring {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr const char* kScenario = R"([machine]
ranks = 40
ranks_per_domain = 8
curve = ["7 GB/s", "13 GB/s", "11 GB/s"]
[program]
steps = 77
kernel = "memory"
volume = "123456789 B"
[communication]
topology = "chain"
distances = [2, -3]
protocol = "rendezvous"
wait = "split"
message_size = "64 KiB"
[[delay]]
rank = 39
step = 5
duration = "1200 ms"
[noise]
distribution = "gamma"
shape = 2.5
mean = "3 ms"
seed = 12
)";

class RingScenario : public testing::Test {
 protected:
  RingScenario() {
    std::string name = "/tmp/idlewave-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~RingScenario() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text, const char* name = "mine.toml") const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  wire::Result<std::variant<Options, Text>> parse(const std::string& scenario, std::vector<const char*> more = {},
                                                  Rank ranks = 40) const {
    std::vector<const char*> arguments{"iw-ring", "--scenario", scenario.c_str()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return parse_options(static_cast<int>(arguments.size()), arguments.data(), ranks);
  }
  Options options(const std::string& scenario, const std::vector<const char*>& more = {}, Rank ranks = 40) const {
    const auto parsed = parse(scenario, more, ranks);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return parsed ? std::get<Options>(*parsed) : Options{};
  }
  std::string complaint(const std::string& scenario, const std::vector<const char*>& more = {}, Rank ranks = 40) const {
    const auto parsed = parse(scenario, more, ranks);
    return parsed ? "" : parsed.error().message;
  }

  std::filesystem::path folder_;
};

TEST_F(RingScenario, IsPlayedOnAnotherMachineBeforeAnySetting) {
  const std::string machine = file(
      "[machine]\nranks_per_domain = 6\ncore_bandwidth = \"9 GB/s\"\ndomain_bandwidth = \"21 GB/s\"\n", "machine.toml");
  const std::string scenario = file(kScenario);
  const Options o = options(scenario, {"--machine", machine.c_str()});
  EXPECT_EQ(o.ranks_per_domain, 6);
  EXPECT_TRUE(o.curve.empty());
  EXPECT_EQ(o.core_bandwidth, 9e9);
  EXPECT_EQ(o.domain_bandwidth, 21e9);
  EXPECT_EQ(o.steps, 77);
  EXPECT_EQ(options(scenario, {"--set", "machine.ranks_per_domain=5", "--machine", machine.c_str()}).ranks_per_domain,
            5);
  EXPECT_THAT(complaint(scenario, {"--machine", "/nowhere.toml"}), HasSubstr("give the path of a machine file"));
}

TEST_F(RingScenario, IsObeyedInAllThatItSays) {
  const Options o = options(file(kScenario));
  EXPECT_EQ(o.kernel, Kernel::kMemory);
  EXPECT_EQ(o.volume, 123'456'789u);
  EXPECT_EQ(o.steps, 77);
  EXPECT_EQ(o.ranks_per_domain, 8);
  EXPECT_THAT(o.curve, ElementsAre(7e9, 13e9, 11e9));
  EXPECT_EQ(o.core_bandwidth, 7e9);
  EXPECT_EQ(o.domain_bandwidth, 13e9);
  EXPECT_EQ(o.topology, Topology::kChain);
  EXPECT_THAT(o.distances, ElementsAre(2, -3));
  EXPECT_EQ(o.protocol, Protocol::kRendezvous);
  EXPECT_EQ(o.wait, WaitFlavour::kSplit);
  EXPECT_EQ(o.message_size, 65536);
  ASSERT_EQ(o.delays.size(), 1u);
  EXPECT_EQ(o.delays[0].rank, 39);
  EXPECT_EQ(o.delays[0].duration, 1200ms);
  const auto& noise = std::get<support::GammaNoise>(o.noise.distribution);
  EXPECT_EQ(noise.shape, 2.5);
  EXPECT_EQ(noise.mean, 3ms);
  EXPECT_EQ(o.noise.seed, 12u);
}

TEST_F(RingScenario, MakesACoreBoundStepLastAsLongAsItSays) {
  const Options o = options(file(
      "machine = {ranks = 40, ranks_per_domain = 10}\nprogram = {steps = 9, kernel = \"core\", time = \"7 ms\"}\n"));
  EXPECT_EQ(o.volume, 0u);
  EXPECT_EQ(o.time, 7ms);
}

TEST_F(RingScenario, IsChangedBySettings) {
  const Options o = options(file(kScenario), {"--set", "program.steps=6", "--set", "noise.seed=3"});
  EXPECT_EQ(o.steps, 6);
  EXPECT_EQ(o.noise.seed, 3u);
}

TEST_F(RingScenario, LeavesItsDelaysToAnOperatorIfAsked) {
  EXPECT_THAT(options(file(kScenario), {"--without-delays"}).delays, IsEmpty());
}

TEST_F(RingScenario, EndsAfterATimeAsWell) {
  const Options o = options(file(kScenario), {"--duration", "3s"});
  EXPECT_EQ(o.duration, 3s);
  EXPECT_EQ(o.steps, 77);
}

TEST_F(RingScenario, TakesATraceFromItsOwnFolder) {
  file("1 ms, 20 us\n3 ms, 5 us\n", "noise.csv");
  std::string text = kScenario;
  text.replace(text.find("distribution"), std::string::npos, "distribution = \"trace\"\nfile = \"noise.csv\"\n");
  EXPECT_EQ(options(file(text)).noise_trace.size(), 2u);
  std::filesystem::remove(folder_ / "noise.csv");
  EXPECT_THAT(complaint(file(text)), HasSubstr("noise.csv"));
}

TEST_F(RingScenario, FitsAnyNumberOfRanksWhereItNamesNone) {
  const std::string path = file("program = {steps = 9, kernel = \"triad\", volume = \"1 MB\"}\n");
  EXPECT_EQ(options(path, {}, 3).kernel, Kernel::kTriad);
}

TEST_F(RingScenario, IsRefusedByTheKeyThatRealRanksCantPlay) {
  for (const auto& [setting, key] : std::vector<std::pair<const char*, const char*>>{
           {"communication.time=1 us", "communication.time"},
           {"communication.L=2500ns", "communication.L"},
           {"communication.message_size=3 GB", "communication.message_size"},
           {"program.kernel=triad", "machine.ranks_per_domain"}}) {
    const std::string message = complaint(file(kScenario), {"--set", setting});
    EXPECT_THAT(message, AllOf(HasSubstr("mine.toml: " + std::string(key)), Not(HasSubstr("\n")))) << setting;
  }
}

TEST_F(RingScenario, IsRefusedForAnotherNumberOfRanks) {
  EXPECT_THAT(complaint(file(kScenario), {}, 8), AllOf(HasSubstr("machine.ranks"), HasSubstr("40"), HasSubstr("8")));
  EXPECT_THAT(
      complaint(file("program = {steps = 9, kernel = \"triad\", volume = \"1 MB\"}\n[[delay]]\nrank = 5\nstep = 0\n"
                     "duration = \"1 s\"\n"),
                {}, 3),
      HasSubstr("delay.rank: there is no rank 5"));
}

TEST_F(RingScenario, IsRefusedWithItsLineWhereItIsWrong) {
  EXPECT_THAT(complaint(file("[machine]\nranks = 40\nrank_per_domain = 8\n")), HasSubstr("mine.toml:3"));
  EXPECT_THAT(complaint("/nonexistent/x.toml"), HasSubstr("/nonexistent/x.toml"));
  EXPECT_THAT(complaint(file(kScenario), {"--set", "program.step=1"}), HasSubstr("program.step"));
}

TEST_F(RingScenario, ToleratesNoFlagThatSaysWhatItSays) {
  for (const auto& arguments : std::vector<std::vector<const char*>>{{"--kernel", "triad"},
                                                                     {"--volume", "1 MB"},
                                                                     {"--time", "1 ms"},
                                                                     {"--steps", "3"},
                                                                     {"--ranks-per-domain", "3"},
                                                                     {"--core-bandwidth", "1 GB/s"},
                                                                     {"--domain-bandwidth", "1 GB/s"},
                                                                     {"--topology", "ring"},
                                                                     {"--distances", "1"},
                                                                     {"--message-size", "1 kB"},
                                                                     {"--protocol", "eager"},
                                                                     {"--wait", "all"},
                                                                     {"--delay", "1:1:1s"},
                                                                     {"--noise", "exp:1ms"},
                                                                     {"--seed", "3"}}) {
    EXPECT_THAT(complaint(file(kScenario), arguments), AllOf(HasSubstr(arguments[0]), HasSubstr("--set ")))
        << arguments[0];
  }
}

TEST(RingOptions, TakeSettingsBesideAScenarioOnly) {
  const std::vector<const char*> arguments{"iw-ring", "--set", "program.steps=5"};
  const auto parsed = parse_options(3, arguments.data(), 40);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().message, HasSubstr("--scenario"));
}

}  // namespace
}  // namespace idlewave::ring
