#include "workloads/sim/simulator.h"

#include <chrono>
#include <limits>
#include <utility>
#include <variant>

#include "probe/wire/no_command.h"
#include "workloads/sim/contention/contention_run.h"
#include "workloads/sim/core/active_window.h"
#include "workloads/sim/network/bulk_run.h"
#include "workloads/sim/network/bulk_schedule.h"
#include "workloads/sim/network/collective_scenario.h"
#include "workloads/sim/network/collective_waits.h"
#include "workloads/sim/noise/make_noise.h"
#include "workloads/support/memory_limit.h"
#include "workloads/support/noise_trace.h"

namespace idlewave::sim {
namespace {

using core::Run;
using core::RunOptions;
using wire::Rank;
using wire::Step;

/// System noise is drawn anew every 4 ms of work.
wire::Status check_noise(const support::Scenario& scenario) {
  constexpr auto kLongest = std::chrono::hours(24);
  const bool drawn_in_time = std::holds_alternative<support::SystemNoise>(scenario.noise.distribution);
  if (!drawn_in_time || scenario.program.time <= kLongest) return wire::ok();
  return wire::Error{"program.time: is longer than 24 h, which can't be with noise.distribution \"system\""};
}

wire::Error takes_no_orders() { return wire::Error{wire::to_words(wire::NoCommand::kNoOrders)}; }

}  // namespace

wire::Result<Prepared> prepare(support::Scenario scenario, const std::filesystem::path& folder) {
  const auto trace = support::load_noise_trace(scenario.noise, folder);
  if (!trace) return trace.error();
  auto made = noise::make_noise(scenario.noise, *trace);
  if (!made) return made.error();
  if (const auto ends = check_noise(scenario); !ends) return ends.error();
  return Prepared{std::move(scenario), std::move(*made)};
}

wire::Result<Prepared> prepare(const std::filesystem::path& file, const std::vector<std::string>& settings) {
  auto scenario = support::load_scenario(file, settings);
  if (!scenario) return scenario.error();
  return prepare(std::move(*scenario), file.parent_path());
}

Engine engine_of(const support::Scenario& scenario) {
  const bool core_bound = scenario.program.kernel == support::Kernel::kCore;
  if (scenario.communication.collective) return core_bound ? Engine::kCollectives : Engine::kNetwork;
  return scenario.communication.loggops ? Engine::kNetwork : Engine::kContention;
}

bool takes_orders(const support::Scenario& scenario) { return engine_of(scenario) == Engine::kContention; }

wire::Result<core::Model> model_of(const support::Scenario& scenario) {
  if (engine_of(scenario) == Engine::kContention) return core::model_of(scenario);
  return network::model_beside_network(scenario);
}

core::WaitTable waits_of(const support::Scenario& scenario, const core::Model& model) {
  const support::Communication& communication = scenario.communication;
  if (communication.collective) return network::waits_of_collective(communication, model.ranks);
  const bool rendezvous = communication.loggops ? network::goes_by_rendezvous(communication) : model.rendezvous;
  return core::waits_of(communication, model.ranks, rendezvous);
}

wire::Result<std::size_t> bytes_needed(const support::Scenario& scenario, const RunOptions& options) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return network::bytes_on_network(scenario);
    case Engine::kCollectives: return network::bytes_of_collectives(scenario, options);
    case Engine::kContention: break;
  }
  return contention::bytes_needed(scenario, options);
}

wire::Status check_memory(const support::Scenario& scenario, const RunOptions& options) {
  const auto needed = bytes_needed(scenario, options);
  if (!needed) return needed.error();
  const bool keeps_steps = engine_of(scenario) == Engine::kNetwork;
  return support::check_memory(*needed, keeps_steps ? "take fewer ranks or steps" : "take fewer ranks");
}

wire::Status check(const support::Scenario& scenario, const RunOptions& options) {
  if (const auto model = model_of(scenario); !model) return model.error();
  if (const auto asked = core::check(options, scenario.program.steps); !asked) return asked;
  return check_memory(scenario, options);
}

wire::Result<Run> run(const support::Scenario& scenario, const RunOptions& options) {
  switch (engine_of(scenario)) {
    case Engine::kNetwork: return network::run_on_network(scenario, options);
    case Engine::kCollectives: return network::run_collectives(scenario, options);
    case Engine::kContention: break;
  }
  return contention::run(scenario, options);
}

wire::Result<std::vector<double>> active_means(const Prepared& prepared, const Run& before, core::Fractions window,
                                               const std::atomic<bool>* stop) {
  const support::Scenario& scenario = prepared.scenario;
  if (engine_of(scenario) == Engine::kContention)
    return contention::active_means(scenario, prepared.noise.get(), before, window, stop);
  core::ActiveWindow active(scenario.machine.ranks, scenario.machine.ranks_per_domain,
                            {window.from * before.makespan, window.to * before.makespan});
  const auto again = run(scenario, {.noise = prepared.noise.get(), .stop = stop, .recorder = &active});
  if (!again) return again.error();
  return again->stopped ? std::vector<double>{} : active.means();
}

wire::Result<Simulation> Simulation::create(const Prepared& prepared, core::Recorder& recorder,
                                            const std::atomic<bool>* stop) {
  const support::Scenario& scenario = prepared.scenario;
  if (engine_of(scenario) == Engine::kContention) {
    auto run = contention::Simulation::create(scenario, recorder, prepared.noise);
    if (!run) return run.error();
    return Simulation{std::move(*run), stop};
  }
  const bool has_schedule = engine_of(scenario) == Engine::kNetwork;
  const core::PhaseNoise* const noise = prepared.noise.get();
  auto run = has_schedule ? network::simulate_on_network(scenario, recorder, noise, stop)
                          : network::simulate_collectives(scenario, recorder, noise, stop);
  if (!run) return run.error();
  return Simulation{std::move(*run), stop};
}

wire::Status Simulation::advance_until(double time) {
  if (auto* const on_network = std::get_if<OnNetwork>(&run_)) return (*on_network)->advance_until(time);
  std::get<contention::Simulation>(run_).advance_until(time, stop_);
  return wire::ok();
}

bool Simulation::finished() const {
  if (auto* const on_network = std::get_if<OnNetwork>(&run_)) return (*on_network)->finished();
  return std::get<contention::Simulation>(run_).finished();
}

double Simulation::time() const {
  if (auto* const on_network = std::get_if<OnNetwork>(&run_)) return (*on_network)->time();
  return std::get<contention::Simulation>(run_).time();
}

bool Simulation::takes_orders() const { return std::holds_alternative<contention::Simulation>(run_); }

wire::Result<Step> Simulation::step_of_delay(Rank rank, std::optional<Step> step) const {
  auto* const run = std::get_if<contention::Simulation>(&run_);
  return run ? run->step_of_delay(rank, step) : takes_no_orders();
}

wire::Result<Step> Simulation::order_delay(Rank rank, std::optional<Step> step, support::Nanoseconds duration,
                                           wire::CommandId command) {
  auto* const run = std::get_if<contention::Simulation>(&run_);
  return run ? run->order_delay(rank, step, duration, command) : takes_no_orders();
}

wire::Status Simulation::set_noise(std::shared_ptr<const core::PhaseNoise> noise) {
  auto* const run = std::get_if<contention::Simulation>(&run_);
  if (!run) return takes_no_orders();
  run->set_noise(std::move(noise));
  return wire::ok();
}

std::size_t Simulation::take_back_delays(Rank rank) {
  auto* const run = std::get_if<contention::Simulation>(&run_);
  return run ? run->take_back_delays(rank) : 0;
}

contention::OrderedHolds Simulation::ordered_holds(Rank rank) const {
  auto* const run = std::get_if<contention::Simulation>(&run_);
  return run ? run->ordered_holds(rank) : contention::OrderedHolds{};
}

wire::Result<Played> play(const Prepared& prepared, core::Recorder& recorder, const std::atomic<bool>* stop) {
  auto simulation = Simulation::create(prepared, recorder, stop);
  if (!simulation) return simulation.error();
  if (const wire::Status played = simulation->advance_until(std::numeric_limits<double>::max()); !played)
    return played.error();
  return Played{simulation->time(), simulation->finished()};
}

}  // namespace idlewave::sim
