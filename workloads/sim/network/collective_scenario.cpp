#include "workloads/sim/network/collective_scenario.h"

#include <algorithm>

#include "workloads/sim/core/in_order.h"
#include "workloads/sim/network/collective_engine.h"
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

std::int64_t last(const std::vector<std::int64_t>& times) {
  return times.empty() ? 0 : *std::ranges::max_element(times);
}

support::LogGops network_of(const support::Scenario& scenario) {
  return scenario.communication.loggops.value_or(support::LogGops{});
}

class CollectiveSimulation final : public Simulation {
 public:
  explicit CollectiveSimulation(core::Recorder& recorder) : told_(recorder) {}

  wire::Status begin(const support::Scenario& scenario, const core::PhaseNoise* noise, const std::atomic<bool>* stop) {
    auto engine =
        make_engine(program_of(scenario), network_of(scenario), {.noise = noise, .stop = stop, .recorder = &told_});
    if (!engine) return engine.error();
    engine_ = std::move(*engine);
    return wire::ok();
  }

  wire::Status advance_until(double time) override {
    engine_->advance_until(whole_ns(time));
    return engine_->is_too_long() ? too_long_collectives() : wire::ok();
  }
  bool finished() const override { return engine_->finished() && told_.empty(); }
  double time() const override { return told_.last(); }

 private:
  core::InOrder told_;
  std::unique_ptr<CollectiveEngine> engine_;
};

}  // namespace

wire::Result<std::unique_ptr<Simulation>> simulate_collectives(const support::Scenario& scenario,
                                                               core::Recorder& recorder, const core::PhaseNoise* noise,
                                                               const std::atomic<bool>* stop) {
  auto simulation = std::make_unique<CollectiveSimulation>(recorder);
  if (const wire::Status begun = simulation->begin(scenario, noise, stop); !begun) return begun.error();
  return std::unique_ptr<Simulation>(std::move(simulation));
}

wire::Result<Run> run_collectives(const support::Scenario& scenario, const RunOptions& options) {
  if (const auto checked = core::check(options, scenario.program.steps); !checked) return checked.error();
  const auto result =
      run(program_of(scenario), network_of(scenario),
          {.noise = options.noise, .stop = options.stop, .recorder = options.recorder, .starts_of = options.starts_of});
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
