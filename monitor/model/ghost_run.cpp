#include "monitor/model/ghost_run.h"

#include <algorithm>
#include <cmath>

#include "monitor/model/derived_scenario.h"
#include "workloads/sim/simulator.h"

namespace idlewave::model {
namespace {

using wire::Nanoseconds;
using wire::Rank;

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

}  // namespace

wire::Result<Behind> behind_ghost(const analysis::program::Program& program) {
  const auto scenario = undisturbed(program);
  if (!scenario) return scenario.error();
  if (const auto fits = sim::check_memory(*scenario, {}); !fits) return fits.error();
  Ends ends(program.ranks());
  const auto run = sim::run(*scenario, {.recorder = &ends});
  if (!run) return run.error();
  const analysis::steps::CommonSteps& steps = program.steps;
  Behind behind{.measured = steps.end() - steps.begin(), .model = {}, .ranks = {}};
  for (std::size_t rank = 0; rank < steps.ranks.size(); ++rank) {
    behind.model = std::max(behind.model, ends.of(rank));
    behind.ranks.push_back(steps.ranks[rank].back().end - steps.begin() - ends.of(rank));
  }
  return behind;
}

}  // namespace idlewave::model
