// What is found in a run while it is made is what `report` finds in its recording.

#include "monitor/cli/simulation/observation.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "monitor/cli/recording.h"
#include "monitor/cli/reporting/report.h"

namespace idlewave::cli::simulation {
namespace {

namespace fs = std::filesystem;

constexpr const char* kReference = R"([machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"
[program]
steps = 100
kernel = "memory"
volume = "50 MB"
[communication]
topology = "ring"
distances = [-1, 1]
time = "0 us"
[[delay]]
rank = 5
step = 5
duration = "0.3 s"
)";
constexpr const char* kCollective = R"([machine]
ranks = 32
ranks_per_domain = 8
[program]
steps = 20
kernel = "core"
time = "1 ms"
[communication]
collective = "allreduce"
message_size = "8 B"
L = "2500 ns"
o = "1500 ns"
g = "1000 ns"
G = "6 ns/B"
S = "1 GB"
[[delay]]
rank = 5
step = 5
duration = "5 ms"
)";

class Observations : public testing::Test {
 protected:
  Observations() {
    std::string name = fs::temp_directory_path() / "idlewave-observation-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~Observations() override { fs::remove_all(folder_); }

  static sim::Prepared prepared(const char* text, const std::vector<std::string>& settings) {
    auto scenario = support::parse_scenario(text, "test", settings);
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error().message);
    auto prepared = sim::prepare(std::move(*scenario), ".");
    EXPECT_TRUE(prepared) << (prepared ? "" : prepared.error().message);
    return std::move(*prepared);
  }

  Wanted wanted() const {
    return {.program = "test", .session = "s", .memory = 64u << 20, .record = folder_ / "s.iw", .window = {0.3, 0.7}};
  }

  fs::path folder_;
  const std::atomic<bool> never_{false};
};

TEST_F(Observations, FindWhatIsFoundInTheRecording) {
  struct Case {
    const char* scenario;
    std::vector<std::string> settings;
  };
  const std::vector<std::string> noise = {"noise.distribution=exponential", "noise.mean=0.2 ms"};
  const std::vector<std::string> core = {"program.kernel=core", "program.time=10 ms"};
  for (const Case& each : {Case{kReference, {}}, {kReference, noise}, {kReference, core}, {kCollective, {}}}) {
    const sim::Prepared run_of = prepared(each.scenario, each.settings);
    const auto run = sim::run(run_of.scenario, {.noise = run_of.noise.get()});
    ASSERT_TRUE(run) << run.error().message;
    const auto observation = observe(run_of, *run, wanted(), never_);
    ASSERT_TRUE(observation) << observation.error().message;
    EXPECT_TRUE(observation->played.whole);
    EXPECT_FALSE(bool(observation->observer->timeline().forgotten_until()));
    const auto recording = read_recording(wanted().record, 64u << 20);
    ASSERT_TRUE(recording) << recording.error().message;
    const std::string found = reporting::report_json(observation->observer->timeline(), {});
    EXPECT_EQ(found, reporting::report_json(recording->timeline(), {}));
    EXPECT_EQ(nlohmann::json::parse(found).at("waves").size(), 1u);
    fs::remove(wanted().record);
  }
}

TEST_F(Observations, AddUpActiveRanksToTheLastBitOfARunOfItsOwn) {
  const sim::Prepared run_of = prepared(kReference, {"noise.distribution=exponential", "noise.mean=0.2 ms"});
  const auto run = sim::run(run_of.scenario, {.noise = run_of.noise.get()});
  ASSERT_TRUE(run) << run.error().message;
  const auto observation = observe(run_of, *run, wanted(), never_);
  ASSERT_TRUE(observation) << observation.error().message;
  const auto alone = sim::active_means(run_of, *run, {0.3, 0.7}, nullptr);
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(observation->active_means, *alone);
}

TEST_F(Observations, LeaveTheAveragesOfARunThatIsSweptOverItsRanksToTheSweep) {
  const sim::Prepared run_of = prepared(kReference, {"program.kernel=core", "program.time=10 ms"});
  const auto observation = observe(run_of, {.makespan = 1}, wanted(), never_);
  ASSERT_TRUE(observation) << observation.error().message;
  EXPECT_TRUE(observation->active_means.empty());
}

TEST_F(Observations, OfARunThatIsStoppedAreARecordingUpToThere) {
  // Long enough for the engine to look whether it is to stop.
  const sim::Prepared run_of =
      prepared(kReference, {"program.steps=2000", "noise.distribution=exponential", "noise.mean=0.2 ms"});
  const std::atomic<bool> at_once{true};
  const auto observation = observe(run_of, {.makespan = 1}, wanted(), at_once);
  ASSERT_TRUE(observation) << observation.error().message;
  EXPECT_FALSE(observation->played.whole);
  EXPECT_TRUE(observation->active_means.empty());
  EXPECT_TRUE(read_recording(wanted().record, 64u << 20));
}

TEST_F(Observations, SayWhenTheirHistoryWasTooLarge) {
  const sim::Prepared run_of = prepared(kReference, {"program.steps=2000"});
  Wanted little = wanted();
  little.memory = 1 << 20;
  const auto observation = observe(run_of, {.makespan = 30}, little, never_);
  ASSERT_TRUE(observation) << observation.error().message;
  EXPECT_TRUE(bool(observation->observer->timeline().forgotten_until()));
}

TEST_F(Observations, WriteOverNoFile) {
  const sim::Prepared run_of = prepared(kReference, {});
  ASSERT_TRUE(check_recording(run_of.scenario, wanted().record));
  ASSERT_TRUE(observe(run_of, {.makespan = 1}, wanted(), never_));
  const auto refused = check_recording(run_of.scenario, wanted().record);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("exists"), std::string::npos);
}

TEST_F(Observations, OfYearsAreWholeOrRefused) {
  const std::vector<std::string> year = {"program.kernel=core", "program.time=45000000 s", "delay.0.step=0"};
  std::vector<std::string> shorter = year, longer = year;
  shorter.emplace_back("program.steps=6");
  longer.emplace_back("program.steps=7");
  const sim::Prepared eight_years = prepared(kReference, shorter), ten_years = prepared(kReference, longer);
  const auto run = sim::run(eight_years.scenario, {}), too_long = sim::run(ten_years.scenario, {});
  ASSERT_TRUE(run && too_long);
  ASSERT_TRUE(observe(eight_years, *run, wanted(), never_));
  const auto recording = read_recording(wanted().record, 64u << 20);
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(nlohmann::json::parse(reporting::report_json(recording->timeline(), {})).at("dropped"), 0);
  fs::remove(wanted().record);
  const auto refused = observe(ten_years, *too_long, wanted(), never_);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("9 years"), std::string::npos);
  EXPECT_FALSE(fs::exists(wanted().record));
}

}  // namespace
}  // namespace idlewave::cli::simulation
