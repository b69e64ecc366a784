#include "monitor/cli/calibration/machine_file.h"

#include <gtest/gtest.h>

#include "monitor/cli/calibration/output.h"
#include "monitor/theory/contention.h"
#include "tests/analysis/simulated_session.h"
#include "tests/any_seed.h"
#include "tests/cli/calibration/random_curves.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli::calibration {
namespace {

constexpr std::string_view kScenario = R"(
[machine]
ranks = 40
ranks_per_domain = 10
core_bandwidth = "10 GB/s"
domain_bandwidth = "50 GB/s"
[program]
steps = 20
kernel = "memory"
volume = "50 MB"
)";

Calibration any_calibration(std::mt19937_64& random) {
  Calibration calibration;
  calibration.processors = "a \n[program]\nprocessor with \"quotes\" \xff";
  calibration.plan.kinds = all_kinds();
  const std::size_t cores = test::any_curve(random).size();
  MeasuredDomain domain{"socket 0", {}, {}, 0};
  for (std::size_t i = 0; i < cores; ++i) domain.cores.push_back(int(i));
  calibration.domains = {domain};
  calibration.array_bytes = {1'000'000};
  for (const StreamKind kind : all_kinds()) {
    auto curve = test::any_curve(random);
    curve.resize(cores, curve.back());
    const Fit found = fit(test::measured(curve, 5, 0.01, random));
    calibration.loops.push_back({kind, found, {found}, {}});
  }
  return calibration;
}

TEST(MachineFile, IsReadAsItWasMeasured) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int trial = 0; trial < 30; ++trial) {
    const Calibration calibration = any_calibration(random);
    const auto read = support::parse_machine(machine_file(calibration), "machine.toml");
    ASSERT_TRUE(read) << read.error().message << "\n" << machine_file(calibration);
    const auto scenario = support::parse_scenario(kScenario, "s.toml", support::settings_of(*read));
    ASSERT_TRUE(scenario) << scenario.error().message;
    const support::Machine& machine = scenario->machine;
    const Fit& fit = calibration.loops.front().fit;
    EXPECT_EQ(machine.ranks, 40);
    EXPECT_EQ(machine.ranks_per_domain, calibration.cores_of_domain());
    EXPECT_EQ(machine.curve, fit.curve);
    EXPECT_EQ(machine.core_bandwidth, fit.core.value);
    EXPECT_EQ(machine.domain_bandwidth, fit.saturated.value);
    EXPECT_EQ(theory::saturation_point(machine.curve), fit.saturation_point.value);
  }
}

TEST(MachineFile, OfTwoBandwidthsTakesThePlaceOfACurve) {
  const auto machine = support::parse_machine(
      "[machine]\nranks_per_domain = 4\ncore_bandwidth = \"3 GB/s\"\ndomain_bandwidth = \"7 GB/s\"\n", "m.toml");
  ASSERT_TRUE(machine) << machine.error().message;
  std::string scenario(kScenario);
  scenario.replace(scenario.find("core_bandwidth"), std::string_view("core_bandwidth = \"10 GB/s\"").size(),
                   "curve = [\"1 GB/s\", \"2 GB/s\"]");
  scenario.erase(scenario.find("domain_bandwidth"), std::string_view("domain_bandwidth = \"50 GB/s\"").size());
  const auto read = support::parse_scenario(scenario, "s.toml", support::settings_of(*machine));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->machine.curve.empty());
  EXPECT_EQ(read->machine.core_bandwidth, 3e9);
  EXPECT_EQ(read->machine.domain_bandwidth, 7e9);
}

TEST(MachineFile, ThatLacksOrAddsSomethingIsRefusedByItsKey) {
  const auto refusal = [](std::string_view text) {
    const auto machine = support::parse_machine(text, "m.toml");
    return machine ? "" : machine.error().message;
  };
  EXPECT_NE(refusal("[machine]\ncurve = [\"1 GB/s\"]\n").find("ranks_per_domain: is missing"), std::string::npos);
  EXPECT_NE(refusal("[machine]\nranks_per_domain = 4\n").find("curve: is missing"), std::string::npos);
  EXPECT_NE(refusal("[machine]\nranks_per_domain = 4\ncurve = [\"1\"]\n").find("no unit"), std::string::npos);
  EXPECT_NE(refusal("[machine]\nranks_per_domain = 4\ncores = 3\ncurve = [\"1 GB/s\"]\n").find("machine.cores"),
            std::string::npos);
  EXPECT_NE(refusal("[machine]\nranks_per_domain = 4\ncurve = [\"1 GB/s\"]\n[program]\nsteps = 3\n").find("program"),
            std::string::npos);
}

TEST(Calibration, InWordsFitsATerminalOf80By24) {
  const unsigned seed = any_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const Calibration calibration = any_calibration(random);
  const std::string text = text_of(calibration, {80, 23, false});
  EXPECT_LE(std::ranges::count(text, '\n'), 23);
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 80u) << text.substr(begin, end - begin);
}

}  // namespace
}  // namespace idlewave::cli::calibration
