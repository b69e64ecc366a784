#include "monitor/model/ghost_run.h"

#include <algorithm>
#include <cmath>

#include "monitor/model/derived_scenario.h"
#include "workloads/sim/noise/drawn_noise.h"
#include "workloads/sim/simulator.h"

namespace idlewave::model {
namespace {

using wire::Nanoseconds;
using wire::Rank;

/// Seconds: times are known no better.
constexpr double kClock = 1e-9;

/// When each rank ended its last step, seconds.
class Ends final : public sim::core::Recorder {
 public:
  explicit Ends(Rank ranks) : ends_(std::size_t(ranks)) {}
  void step_begins(Rank, wire::Step, double) override {}
  void enters(Rank rank, wire::Step, wire::Phase phase, double time) override {
    if (phase == wire::Phase::kNone) ends_[std::size_t(rank)] = time;
  }
  Nanoseconds of(std::size_t rank) const { return Nanoseconds(std::llround(ends_[rank] * 1e9)); }

 private:
  std::vector<double> ends_;
};

/// Held where the program says so.
wire::Result<support::Scenario> undisturbed(const analysis::program::Program& program) {
  auto scenario = support::parse_scenario(scenario_of(program, "session"), "session");
  if (!scenario) return scenario.error();
  scenario->noise = {};
  scenario->delays.clear();
  for (const analysis::program::Hold& hold : program.holds)
    scenario->delays.push_back({hold.rank, wire::Step(hold.step), hold.duration});
  return scenario;
}

/// `noise`: null: silent.
wire::Result<Ends> ends_of(const support::Scenario& scenario, const sim::core::PhaseNoise* noise = nullptr) {
  Ends ends(scenario.machine.ranks);
  const auto run = sim::run(scenario, {.noise = noise, .recorder = &ends});
  if (!run) return run.error();
  return ends;
}

/// The farthest that a rank's end is off in a ghost whose work takes up to a nanosecond longer, by chance. Where no bandwidth is
/// shared it is no more than one for each step.
wire::Result<Nanoseconds> spread_of(const support::Scenario& scenario, const Ends& ends) {
  if (scenario.program.kernel != support::Kernel::kMemory) return Nanoseconds{scenario.program.steps};
  const sim::noise::UniformNoise below_the_clock(kClock / 2, 1);
  const auto others = ends_of(scenario, &below_the_clock);
  if (!others) return others.error();
  Nanoseconds most{};
  for (std::size_t rank = 0; rank < std::size_t(scenario.machine.ranks); ++rank)
    most = std::max(most, std::chrono::abs(others->of(rank) - ends.of(rank)));
  return most;
}

}  // namespace

wire::Result<Behind> behind_ghost(const analysis::program::Program& program) {
  const auto scenario = undisturbed(program);
  if (!scenario) return scenario.error();
  if (const auto fits = sim::check_memory(*scenario, {}); !fits) return fits.error();
  const auto ends = ends_of(*scenario);
  if (!ends) return ends.error();
  const auto spread = spread_of(*scenario, *ends);
  if (!spread) return spread.error();
  const analysis::steps::CommonSteps& steps = program.steps;
  Behind behind{.measured = steps.end() - steps.begin(), .model = {}, .spread = *spread, .ranks = {}};
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    behind.model = std::max(behind.model, ends->of(rank));
    behind.ranks.push_back(steps.ranks[rank].back().end - steps.begin() - ends->of(rank));
  }
  return behind;
}

}  // namespace idlewave::model
