#include "workloads/sim/network/bulk_run.h"

#include <fmt/format.h>

#include <cassert>

#include "workloads/sim/core/active_window.h"
#include "workloads/sim/network/bulk_schedule.h"
#include "workloads/sim/network/goal_check.h"
#include "workloads/sim/network/goal_engine.h"
#include "workloads/sim/network/goal_run.h"

namespace idlewave::sim::network {
namespace {

using core::ActiveWindow;
using core::Recorder;
using core::Run;
using core::RunOptions;
using core::Window;
using wire::Phase;
using wire::Result;
using wire::Step;

double seconds(std::int64_t nanoseconds) { return double(nanoseconds) * 1e-9; }

/// Calculations as phases of ranks.
class StepObserver final : public CalcObserver {
 public:
  StepObserver(const Model& model, Recorder* recorder, std::optional<Step> starts_of)
      : steps_(model.steps),
        recorder_(recorder),
        begun_(std::size_t(model.ranks), 0),
        starts_of_(starts_of.value_or(wire::kNoStep)),
        starts_(starts_of ? std::size_t(model.ranks) : 0) {}

  void begins(const GoalOp& calc, std::int64_t time) override {
    if (const Step step = Step(calc.tag); step == begun_[std::size_t(calc.rank)]) begin_step(calc.rank, step, time);
    if (Step(calc.tag) < steps_) enter(calc, calc.idle ? Phase::kDelay : Phase::kCompute, time);
  }
  void noise_begins(const GoalOp& calc, std::int64_t time) override { enter(calc, Phase::kNoise, time); }
  void ends(const GoalOp& calc, std::int64_t time) override { enter(calc, Phase::kWait, time); }

  double makespan() const { return seconds(last_); }
  std::uint64_t rank_steps() const { return rank_steps_; }
  std::vector<double> take_starts() { return std::move(starts_); }

 private:
  void begin_step(Rank rank, Step step, std::int64_t time) {
    ++begun_[std::size_t(rank)];
    rank_steps_ += step > 0;
    last_ = std::max(last_, time);
    if (step == steps_) {
      if (recorder_) recorder_->enters(rank, step - 1, Phase::kNone, seconds(time));
      return;
    }
    if (recorder_) recorder_->step_begins(rank, step, seconds(time));
    if (step == starts_of_) starts_[std::size_t(rank)] = seconds(time);
  }

  void enter(const GoalOp& calc, Phase phase, std::int64_t time) {
    last_ = std::max(last_, time);
    if (recorder_) recorder_->enters(calc.rank, Step(calc.tag), phase, seconds(time));
  }

  Step steps_;
  Recorder* recorder_;
  std::vector<std::int32_t> begun_;  ///< By rank: so many steps, and its end.
  Step starts_of_;
  std::vector<double> starts_;
  std::int64_t last_ = 0;
  std::uint64_t rank_steps_ = 0;
};

struct Prepared {
  Model model;
  BulkWork work;
};

Result<Prepared> prepare(const support::Scenario& scenario) {
  auto model = model_beside_network(scenario);
  if (!model) return model.error();
  auto work = work_of(scenario, *model);
  if (!work) return work.error();
  return Prepared{std::move(*model), std::move(*work)};
}

Result<Run> run_schedule(const GoalSchedule& schedule, const support::Scenario& scenario, const Prepared& prepared,
                         const RunOptions& options) {
  StepObserver observer(prepared.model, options.recorder, options.starts_of);
  const auto result =
      run(schedule, network_of(scenario.communication),
          {.memory = &prepared.work.memory, .noise = options.noise, .observer = &observer, .stop = options.stop});
  if (!result) return result.error();
  assert((result->stopped || result->complete()) && "deadlock");
  return Run{.makespan = observer.makespan(),
             .rank_steps = observer.rank_steps(),
             .events = result->events,
             .stopped = result->stopped,
             .starts = observer.take_starts(),
             .active_means = {}};
}

Result<std::vector<double>> active_means(const GoalSchedule& schedule, const support::Scenario& scenario,
                                         const Prepared& prepared, const RunOptions& options, double makespan) {
  const Window window{options.active_means_of->from * makespan, options.active_means_of->to * makespan};
  ActiveWindow recorder{prepared.model.ranks, prepared.model.ranks_per_domain, window};
  const auto again =
      run_schedule(schedule, scenario, prepared, {.noise = options.noise, .stop = options.stop, .recorder = &recorder});
  if (!again) return again.error();
  return again->stopped ? std::vector<double>{} : recorder.means();
}

class BulkSimulation final : public Simulation {
 public:
  BulkSimulation(Prepared prepared, GoalSchedule schedule, Recorder& recorder)
      : prepared_(std::move(prepared)),
        schedule_(std::move(schedule)),
        observer_(prepared_.model, &recorder, std::nullopt) {}

  wire::Status begin(const support::LogGops& network, const core::PhaseNoise* noise, const std::atomic<bool>* stop) {
    auto engine = make_engine(schedule_, network,
                              {.memory = &prepared_.work.memory, .noise = noise, .observer = &observer_, .stop = stop});
    if (!engine) return engine.error();
    engine_ = std::move(*engine);
    return wire::ok();
  }

  wire::Status advance_until(double time) override {
    engine_->advance_until(whole_ns(time));
    return engine_->is_too_long() ? too_long_with_noise() : wire::ok();
  }
  bool finished() const override { return engine_->finished(); }
  double time() const override { return observer_.makespan(); }

 private:
  Prepared prepared_;
  GoalSchedule schedule_;
  StepObserver observer_;
  std::unique_ptr<GoalEngine> engine_;
};

}  // namespace

Result<std::unique_ptr<Simulation>> simulate_on_network(const support::Scenario& scenario, Recorder& recorder,
                                                        const core::PhaseNoise* noise, const std::atomic<bool>* stop) {
  auto prepared = prepare(scenario);
  if (!prepared) return prepared.error();
  auto schedule = bulk_schedule(scenario, prepared->work);
  if (!schedule) return schedule.error();
  auto simulation = std::make_unique<BulkSimulation>(std::move(*prepared), std::move(*schedule), recorder);
  if (const wire::Status begun = simulation->begin(network_of(scenario.communication), noise, stop); !begun)
    return begun.error();
  return std::unique_ptr<Simulation>(std::move(simulation));
}

Result<Run> run_on_network(const support::Scenario& scenario, const RunOptions& options) {
  const auto prepared = prepare(scenario);
  if (!prepared) return prepared.error();
  if (const auto checked = core::check(options, prepared->model.steps); !checked) return checked.error();
  const auto schedule = bulk_schedule(scenario, prepared->work);
  if (!schedule) return schedule.error();
  auto run = run_schedule(*schedule, scenario, *prepared, options);
  if (!run || run->stopped || !options.active_means_of || run->makespan <= 0) return run;
  auto means = active_means(*schedule, scenario, *prepared, options, run->makespan);
  if (!means) return means.error();
  run->active_means = std::move(*means);
  run->stopped = run->active_means.empty();
  return run;
}

Result<std::size_t> bytes_on_network(const support::Scenario& scenario) {
  const auto prepared = prepare(scenario);
  if (!prepared) return prepared.error();
  return bytes_for_bulk(scenario, prepared->work);
}

}  // namespace idlewave::sim::network
