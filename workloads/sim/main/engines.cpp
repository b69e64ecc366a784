#include "workloads/sim/main/engines.h"

#include "workloads/sim/contention/active_window.h"
#include "workloads/sim/loggops/bulk_run.h"
#include "workloads/sim/loggops/bulk_schedule.h"
#include "workloads/sim/main/collective.h"

namespace idlewave::sim {
namespace {

wire::Result<std::size_t> bytes_for(const support::Scenario& scenario, const RunOptions& options) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return bytes_on_network(scenario);
    case Engine::kCollectives: return bytes_of_collectives(scenario, options);
    case Engine::kContention: break;
  }
  return bytes_needed(scenario, options);
}

}  // namespace

Engine engine_of(const support::Scenario& scenario) {
  const bool core_bound = scenario.program.kernel == support::Kernel::kCore;
  if (has_collective(scenario)) return core_bound ? Engine::kCollectives : Engine::kNetwork;
  return scenario.communication.loggops ? Engine::kNetwork : Engine::kContention;
}

wire::Result<Model> model_for(const support::Scenario& scenario) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return model_beside_network(scenario);
    case Engine::kCollectives: return model_of_work(scenario);
    case Engine::kContention: break;
  }
  return model_of(scenario);
}

wire::Result<Run> run_scenario(const support::Scenario& scenario, const RunOptions& options) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return run_on_network(scenario, options);
    case Engine::kCollectives: return run_collectives(scenario, options);
    case Engine::kContention: break;
  }
  return run(scenario, options);
}

wire::Result<std::vector<double>> active_means_of(const Prepared& prepared, const Run& run, Fractions window) {
  const support::Scenario& scenario = prepared.scenario;
  if (engine_of(scenario) == Engine::kContention)
    return active_means(scenario, prepared.noise.get(), run, window, &interrupted());
  ActiveWindow active(scenario.machine.ranks, scenario.machine.ranks_per_domain,
                      {window.from * run.makespan, window.to * run.makespan});
  const auto again =
      run_scenario(scenario, {.noise = prepared.noise.get(), .stop = &interrupted(), .recorder = &active});
  if (!again) return again.error();
  return again->stopped ? std::vector<double>{} : active.means();
}

wire::Status check_memory(const support::Scenario& scenario, const RunOptions& options) {
  const auto needed = bytes_for(scenario, options);
  if (!needed) return needed.error();
  const bool keeps_steps = engine_of(scenario) == Engine::kNetwork;
  return check_memory(*needed, keeps_steps ? "take fewer ranks or steps" : "take fewer ranks");
}

}  // namespace idlewave::sim
