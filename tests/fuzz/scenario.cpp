// A scenario file, with an override: read, checked, and turned into what the engines need before they run.

#include "workloads/support/scenario.h"
#include "tests/fuzz/road.h"
#include "workloads/sim/contention/contention_run.h"
#include "workloads/sim/core/model.h"

namespace idlewave::fuzz {
namespace {

constexpr std::int64_t kMostRankSteps = 2'000;  ///< Of a run that is worth an input.

/// Durations may be years and so few steps may be simulated for a long time; what is asked is whether it ends.
void simulate(const support::Scenario& scenario) {
  if (!support::is_model(scenario.program.kernel) || scenario.communication.loggops ||
      scenario.communication.collective)
    return;
  if (scenario.machine.ranks > kMostRankSteps || scenario.program.steps > kMostRankSteps / scenario.machine.ranks)
    return;
  if (scenario.machine.ranks_per_domain > kMostRankSteps || scenario.communication.distances.size() > 16) return;
  (void)sim::contention::run(scenario, {});
}

}  // namespace

void run_road(Bytes& in) {
  std::vector<std::string> overrides;
  for (int count = int(in.below(3)); count > 0; --count) overrides.push_back(in.text(48));
  const std::string_view text = as_text(in.rest());
  if (const auto lesson = support::parse_lesson(text, "s.toml", overrides); !lesson)
    require(!lesson.error().message.empty());
  const auto scenario = support::parse_scenario(text, "s.toml", overrides);
  if (!scenario) return require(!scenario.error().message.empty());
  simulate(*scenario);
}

}  // namespace idlewave::fuzz
