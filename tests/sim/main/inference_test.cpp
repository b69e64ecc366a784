// Recordings of simulated programs whose partners, work and delays are known: what is derived from the file alone must be the same.

#include "workloads/sim/main/inference.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "workloads/sim/main/recording.h"

namespace idlewave::sim {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kScenario = R"([machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"
[program]
steps = 120
kernel = "memory"
volume = "50 MB"
[communication]
topology = "ring"
distances = [-1, 1]
protocol = "eager"
wait = "all"
time = "0 us"
[[delay]]
rank = 5
step = 5
duration = "1.2 s"
)";

class Inference : public testing::Test {
 protected:
  Inference() {
    std::string name = fs::temp_directory_path() / "idlewave-inference-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Inference() override { fs::remove_all(folder_); }

  support::Scenario scenario(const std::vector<std::string>& settings) {
    auto parsed = support::parse_scenario(kScenario, "test", settings);
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
    return std::move(*parsed);
  }

  SessionHistory recorded(const std::vector<std::string>& settings) {
    const std::string path = folder_ / fmt::format("{}.iw", ++files_);
    const auto done = record({scenario(settings), nullptr}, {.scenario = "test.toml"}, path);
    EXPECT_TRUE(done) << (done ? "" : done.error().message);
    auto history = read_history(path);
    EXPECT_TRUE(history) << (history ? "" : history.error().message);
    return std::move(*history);
  }

  Pattern derived(const std::vector<std::string>& settings) { return pattern_of(recorded(settings)); }

  fs::path folder_;

 private:
  int files_ = 0;
};

TEST_F(Inference, FindsThePartnersOfEveryPattern) {
  EXPECT_THAT(derived({}).distances, ElementsAre(-1, 1));
  EXPECT_THAT(derived({"communication.distances=[1]"}).distances, ElementsAre(1));
  EXPECT_THAT(derived({"communication.distances=[3]"}).distances, ElementsAre(3));
  EXPECT_THAT(derived({"communication.distances=[-2, -1, 1, 2]"}).distances, ElementsAre(-2, -1, 1, 2));
}

TEST_F(Inference, SeesReceiversTooWhereBothSidesWait) {
  EXPECT_THAT(derived({"communication.distances=[1]", "communication.protocol=rendezvous"}).distances, ElementsAre(-1, 1));
}

TEST_F(Inference, TellsARingFromAChain) {
  EXPECT_TRUE(derived({}).ring);
  EXPECT_FALSE(derived({"communication.topology=chain"}).ring);
  EXPECT_FALSE(derived({"communication.topology=chain", "communication.distances=[1]"}).ring);
}

TEST_F(Inference, FindsThePartnersOfACoreBoundProgram) {
  const Pattern pattern = derived({"program.kernel=core", "program.time=10 ms", "communication.time=1 ms"});
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
  EXPECT_NEAR(pattern.transfer, 1e-3, 1e-8);
}

TEST_F(Inference, SaysThatItGuessesWhereNobodyWasLate) {
  const Pattern pattern = derived({"delay.0.duration=0 s"});
  EXPECT_FALSE(pattern.certain);
  EXPECT_THAT(pattern.distances, ElementsAre(-1, 1));
}

TEST_F(Inference, SimulatesToTheSameEnd) {
  for (const std::vector<std::string>& settings : {std::vector<std::string>{}, {"communication.topology=chain"}, {"machine.ranks_per_domain=8"}, {"communication.time=2 ms"},
                                                   {"program.kernel=core", "program.time=7 ms"}, {"communication.distances=[1]"}}) {
    const SessionHistory history = recorded(settings);
    const auto derived = support::parse_scenario(scenario_of(history, pattern_of(history), "test"), "derived");
    ASSERT_TRUE(derived) << derived.error().message;
    const auto again = run(*derived, {}), before = run(scenario(settings), {});
    EXPECT_NEAR(again->makespan, before->makespan, 2e-3 * before->makespan) << testing::PrintToString(settings);
    ASSERT_EQ(derived->delays.size(), 1u);
    EXPECT_EQ(derived->delays[0].rank, 5);
    EXPECT_EQ(derived->delays[0].step, 5);
  }
}

TEST_F(Inference, SaysWhatIsWrongWithAFile) {
  EXPECT_THAT(read_history(folder_ / "none.iw").error().message, HasSubstr("none.iw"));
  std::ofstream(folder_ / "text.iw") << "hello";
  EXPECT_THAT(read_history(folder_ / "text.iw").error().message, HasSubstr("text.iw"));
  const std::string path = folder_ / "short.iw";
  ASSERT_TRUE(record({scenario({"program.steps=6"}), nullptr}, {.scenario = "test.toml"}, path));
  ASSERT_TRUE(read_history(path));
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_THAT(read_history(path).error().message, HasSubstr("short.iw"));
}

}  // namespace
}  // namespace idlewave::sim
