#include "workloads/sim/network/collective_scenario.h"

#include <algorithm>
#include <variant>

#include "workloads/sim/network/collective_run.h"

namespace idlewave::sim::network {
namespace {

using core::Run;
using core::RunOptions;

CollectiveProgram program_of(const support::Scenario& scenario) {
  const support::CollectiveOfStep& collective = *scenario.communication.collective;
  CollectiveProgram program{.ranks = scenario.machine.ranks,
                            .steps = scenario.program.steps,
                            .work_ns = scenario.program.time.count(),
                            .call = call_of(scenario.communication),
                            .mode = collective.mode,
                            .delays = {}};
  for (const support::Delay& delay : scenario.delays)
    program.delays.push_back({delay.rank, delay.step, delay.duration.count()});
  return program;
}

/// Those kinds that come at moments of simulated time.
bool interrupts(const support::Noise& noise) {
  return std::holds_alternative<support::PeriodicNoise>(noise.distribution) ||
         std::holds_alternative<support::SystemNoise>(noise.distribution) ||
         std::holds_alternative<support::TraceNoise>(noise.distribution);
}

std::int64_t last(const std::vector<std::int64_t>& times) {
  return times.empty() ? 0 : *std::ranges::max_element(times);
}

}  // namespace

wire::Result<Run> run_collectives(const support::Scenario& scenario, const RunOptions& options) {
  if (const auto checked = core::check(options, scenario.program.steps); !checked) return checked.error();
  const support::LogGops network = scenario.communication.loggops.value_or(support::LogGops{});
  const auto result = run(program_of(scenario), network,
                          {.noise = options.noise,
                           .interrupts = interrupts(scenario.noise),
                           .stop = options.stop,
                           .recorder = options.recorder,
                           .starts_of = options.starts_of});
  if (!result) return result.error();
  Run run{.makespan = double(last(result->finish_ns)) * 1e-9,
          .rank_steps = result->rank_steps,
          .events = result->rank_steps + result->messages,
          .stopped = result->stopped,
          .starts = {},
          .active_means = {}};
  for (const std::int64_t start : result->starts_ns) run.starts.push_back(double(start) * 1e-9);
  return run;
}

std::size_t bytes_of_collectives(const support::Scenario& scenario, const RunOptions& options) {
  const std::size_t starts = options.starts_of ? std::size_t(scenario.machine.ranks) * 2 * sizeof(double) : 0;
  return bytes_needed(program_of(scenario)) + starts;
}

}  // namespace idlewave::sim::network
