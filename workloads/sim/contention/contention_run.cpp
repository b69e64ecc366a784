#include "workloads/sim/contention/contention_run.h"

#include "workloads/sim/contention/core_bound_sweep.h"
#include "workloads/sim/contention/event_engine.h"
#include "workloads/sim/core/active_window.h"
#include "workloads/sim/core/model.h"

namespace idlewave::sim::contention {
namespace {

using core::ActiveWindow;
using core::Fractions;
using core::Observed;
using core::Run;
using core::RunOptions;
using core::Unobserved;
using core::Window;
using wire::Result;

/// Not owned: the caller keeps it for the run.
std::shared_ptr<const PhaseNoise> borrowed(const PhaseNoise* noise) {
  return {std::shared_ptr<const PhaseNoise>{}, noise};
}

Run run_swept(const Model& model, const RunOptions& options) {
  CoreBoundSweep sweep{model, options.noise, options.recorder, options.starts_of};
  sweep.run(options.stop);
  const auto rank_steps = static_cast<std::uint64_t>(sweep.steps()) * static_cast<std::uint64_t>(model.ranks);
  return {.makespan = sweep.makespan(),
          .rank_steps = rank_steps,
          .events = rank_steps * static_cast<std::uint64_t>(model.partners.stages()),
          .stopped = sweep.steps() < model.steps,
          .starts = {sweep.starts().begin(), sweep.starts().end()}};
}

template <class Observer>
Run run_events(const Model& model, const RunOptions& options, Observer observer, double until) {
  EventEngine<Observer> engine{model, observer, borrowed(options.noise), options.starts_of};
  engine.advance_until(until, options.stop);
  return {.makespan = engine.time(),
          .rank_steps = engine.rank_steps(),
          .events = engine.events(),
          .stopped = !engine.finished(),
          .starts = {engine.starts().begin(), engine.starts().end()}};
}

Run run_model(const Model& model, const RunOptions& options, double until) {
  if (model.core_bound) return run_swept(model, options);
  if (options.recorder) return run_events(model, options, Observed{options.recorder}, until);
  return run_events(model, options, Unobserved{}, until);
}

bool is_too_long(const Run& run, const std::atomic<bool>* stop) {
  const bool was_told_to_stop = stop != nullptr && *stop;
  return run.makespan > core::kLongestRun || (run.stopped && !was_told_to_stop);
}

std::vector<double> means_of(const Model& model, const PhaseNoise* noise, double makespan, Fractions fractions,
                             const std::atomic<bool>* stop) {
  const Window window{fractions.from * makespan, fractions.to * makespan};
  ActiveWindow active{model.ranks, model.ranks_per_domain, window};
  if (model.core_bound) {
    CoreBoundSweep sweep{model, noise, nullptr, std::nullopt};
    sweep.add_work_to(active);
    sweep.run(stop);
  } else {
    run_events(model, {.noise = noise, .stop = stop, .recorder = &active}, Observed{&active}, window.to);
  }
  if (stop && *stop) return {};
  return active.means();
}

}  // namespace

Result<Run> run(const support::Scenario& scenario, const RunOptions& options) {
  const auto model = core::model_of(scenario);
  if (!model) return model.error();
  if (const auto checked = core::check(options, model->steps); !checked) return checked.error();
  Run run = run_model(*model, options, core::kLongestRun);
  if (is_too_long(run, options.stop))
    return wire::Error{"the run is longer than 2^61 ns (73 years): make its work, delays, noise or messages shorter"};
  if (options.active_means_of && run.makespan > 0 && !run.stopped) {
    run.active_means = means_of(*model, options.noise, run.makespan, *options.active_means_of, options.stop);
    run.stopped = run.active_means.empty();
  }
  return run;
}

std::vector<double> active_means(const support::Scenario& scenario, const PhaseNoise* noise, const Run& run,
                                 Fractions window, const std::atomic<bool>* stop) {
  const auto model = core::model_of(scenario);
  if (!model || run.makespan <= 0) return {};
  return means_of(*model, noise, run.makespan, window, stop);
}

Result<std::size_t> bytes_needed(const support::Scenario& scenario, const RunOptions& options) {
  const auto model = core::model_of(scenario);
  if (!model) return model.error();
  const bool starts = options.starts_of.has_value();
  const std::size_t active = options.active_means_of ? static_cast<std::size_t>(model->ranks) * sizeof(double) : 0;
  if (model->core_bound) return CoreBoundSweep::bytes_for(*model, starts) + active;
  return EventEngine<Unobserved>::bytes_for(*model, options.noise != nullptr, starts) + active;
}

}  // namespace idlewave::sim::contention
