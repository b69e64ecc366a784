#include "workloads/support/real_ranks.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace idlewave::support {
namespace {

using testing::StartsWith;

Scenario model() {
  Scenario scenario;
  scenario.machine = {.ranks = 40, .ranks_per_domain = 10, .core_bandwidth = 10e9, .domain_bandwidth = 50e9};
  scenario.program = {.steps = 200, .kernel = Kernel::kMemory, .volume = 50'000'000};
  return scenario;
}

std::string refusal_of(const Scenario& scenario) {
  const wire::Status playable = playable_by_real_ranks(scenario);
  return playable ? "" : playable.error().message;
}

TEST(RealRanks, PlayAModelWithNoiseDelaysAndACurve) {
  Scenario scenario = model();
  scenario.machine.curve = {10e9, 19e9, 25e9};
  scenario.delays = {{5, 3, std::chrono::seconds(1)}};
  for (auto& noise :
       {Noise{ExponentialNoise{}}, Noise{kDaemonNoise}, Noise{SystemNoise{}}, Noise{TraceNoise{"x.csv"}}}) {
    scenario.noise = noise;
    EXPECT_EQ(refusal_of(scenario), "");
  }
}

TEST(RealRanks, RefuseByItsKeyWhatOnlyASimulationCanObey) {
  Scenario slow_messages = model();
  slow_messages.communication.time = std::chrono::microseconds(1);
  EXPECT_THAT(refusal_of(slow_messages), StartsWith("communication.time: "));
  Scenario network = model();
  network.communication.loggops.emplace();
  EXPECT_THAT(refusal_of(network), StartsWith("communication.L, o, g, G, O, S: "));
  Scenario collective = model();
  collective.communication.collective.emplace();
  EXPECT_THAT(refusal_of(collective), StartsWith("communication.collective: "));
  Scenario huge = model();
  huge.communication.message_size = 3'000'000'000;
  EXPECT_THAT(refusal_of(huge), StartsWith("communication.message_size: "));
}

TEST(RealRanks, RefuseAModelledMachineForARealLoop) {
  const Machine nothing{.ranks = 4};
  for (const auto& [key, machine] : std::vector<std::pair<std::string, Machine>>{
           {"machine.ranks_per_domain: ", {.ranks_per_domain = 10}},
           {"machine.core_bandwidth: ", {.core_bandwidth = 10e9}},
           {"machine.domain_bandwidth: ", {.domain_bandwidth = 50e9}},
           {"machine.curve: ", {.core_bandwidth = 1e9, .domain_bandwidth = 1e9, .curve = {1e9}}}}) {
    Scenario scenario = model();
    scenario.program.kernel = Kernel::kTriad;
    scenario.machine = machine;
    EXPECT_THAT(refusal_of(scenario), StartsWith(key));
    scenario.machine = nothing;
    EXPECT_EQ(refusal_of(scenario), "");
  }
}

/// What its file says to those who open it.
bool is_said_to_be_simulated(const std::filesystem::path& path) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.substr(0, text.find('\n')).find("--simulated`") != std::string::npos;
}

TEST(RealRanks, PlayEachLessonThatIsNotSaidToBeSimulated) {
  int lessons = 0;
  for (const auto& entry : std::filesystem::directory_iterator(IDLEWAVE_SCENARIOS)) {
    if (entry.path().extension() != ".toml") continue;
    const auto scenario = load_lesson(entry.path());
    ASSERT_TRUE(scenario);
    if (!scenario->lesson || scenario->play) continue;
    ++lessons;
    EXPECT_EQ(refusal_of(*scenario) != "", is_said_to_be_simulated(entry.path())) << entry.path();
  }
  EXPECT_GT(lessons, 0);
}

}  // namespace
}  // namespace idlewave::support
