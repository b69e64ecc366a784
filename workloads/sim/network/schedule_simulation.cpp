#include "workloads/sim/network/schedule_simulation.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "workloads/sim/network/goal_check.h"
#include "workloads/sim/network/goal_engine.h"

namespace idlewave::sim::network {
namespace {

using core::Recorder;
using wire::Phase;
using wire::Step;

double seconds(std::int64_t nanoseconds) { return double(nanoseconds) * 1e-9; }

/// Calculations as phases of ranks.
class PhaseTeller final : public CalcObserver {
 public:
  PhaseTeller(const GoalSchedule& schedule, Recorder& recorder)
      : recorder_(recorder),
        has_steps_(has_steps(schedule)),
        has_one_cpu_(schedule.cpus() == 1),
        ranks_(std::size_t(schedule.ranks())) {
    enter_all(Phase::kWait, 0);
  }

  void begins(const GoalOp& calc, std::int64_t time) override {
    if (!is_calculation(calc) || ranks_[std::size_t(calc.rank)].calculating++ > 0) return;
    go_to(time);
    Step& step = ranks_[std::size_t(calc.rank)].step;
    if (has_steps_) recorder_.step_begins(calc.rank, ++step, seconds(last_));
    recorder_.enters(calc.rank, step, Phase::kCompute, seconds(last_));
  }

  void noise_begins(const GoalOp& calc, std::int64_t time) override {
    if (is_calculation(calc) && has_one_cpu_) enter(calc.rank, Phase::kNoise, time);
  }

  void ends(const GoalOp& calc, std::int64_t time) override {
    if (is_calculation(calc) && --ranks_[std::size_t(calc.rank)].calculating == 0) enter(calc.rank, Phase::kWait, time);
  }

  void end_all(std::int64_t time) { enter_all(Phase::kNone, time); }

  std::int64_t last() const { return last_; }

 private:
  struct RankState {
    int calculating = 0;  ///< So many of its processors.
    Step step = wire::kNoStep;
  };

  /// Messages of 0 B set a clock back, and what waits for one of several processors comes late: such a thing is told as
  /// of now.
  void go_to(std::int64_t time) { last_ = std::max(last_, time); }

  void enter(Rank rank, Phase phase, std::int64_t time) {
    go_to(time);
    recorder_.enters(rank, ranks_[std::size_t(rank)].step, phase, seconds(last_));
  }

  void enter_all(Phase phase, std::int64_t time) {
    for (Rank rank = 0; rank < Rank(ranks_.size()); ++rank) enter(rank, phase, time);
  }

  Recorder& recorder_;
  bool has_steps_;
  bool has_one_cpu_;
  std::vector<RankState> ranks_;
  std::int64_t last_ = 0;
};

/// Of calculations that share nothing: each rank has a domain, in which none slows another.
MemoryDomains private_domains(const GoalSchedule& schedule) {
  return {1, std::vector<double>(std::size_t(schedule.cpus()) + 1, 1)};
}

wire::Result<MemoryDomains> domains_of(const ScheduledProgram& program) {
  if (!program.machine) return private_domains(program.schedule);
  const auto ranks = std::size_t(std::min(program.schedule.ranks(), program.machine->ranks_per_domain));
  return memory_domains(*program.machine, ranks * std::size_t(program.schedule.cpus()));
}

class Watched final : public ScheduleSimulation {
 public:
  Watched(const ScheduledProgram& program, MemoryDomains memory, Recorder& recorder)
      : program_(program), memory_(std::move(memory)), teller_(program.schedule, recorder) {}

  wire::Status begin(const std::atomic<bool>* stop) {
    auto engine = make_engine(program_.schedule, program_.network,
                              {.memory = &memory_, .noise = program_.noise.get(), .observer = &teller_, .stop = stop});
    if (!engine) return engine.error();
    engine_ = std::move(*engine);
    return wire::ok();
  }

  wire::Status advance_until(double time) override {
    engine_->advance_until(whole_ns(time));
    if (engine_->is_too_long()) return too_long_with_noise();
    if (!engine_->finished() || ended_) return wire::ok();
    if (!run_) run_ = engine_->take_run();
    const std::int64_t end = *std::ranges::max_element(run_->finish_ns);
    if (end > whole_ns(time)) return wire::ok();
    teller_.end_all(end);
    ended_ = true;
    return wire::ok();
  }

  bool finished() const override { return ended_; }
  double time() const override { return seconds(teller_.last()); }
  GoalRun take_run() override { return run_ ? std::move(*run_) : engine_->take_run(); }

 private:
  const ScheduledProgram& program_;
  MemoryDomains memory_;
  PhaseTeller teller_;
  std::unique_ptr<GoalEngine> engine_;
  std::optional<GoalRun> run_;  ///< When nothing can happen any more.
  bool ended_ = false;
};

}  // namespace

bool is_calculation(const GoalOp& op) { return op.kind == OpKind::kCalc && op.amount > 0; }

bool has_steps(const GoalSchedule& schedule) {
  if (schedule.cpus() > 1) return false;
  std::vector<std::uint64_t> calculations(std::size_t(schedule.ranks()));
  for (const PlacedOp& op : schedule.ops()) calculations[std::size_t(op.rank)] += is_calculation(op);
  return calculations.front() > 0 && std::ranges::count(calculations, calculations.front()) == schedule.ranks();
}

wire::Result<GoalRun> run(const ScheduledProgram& program, const std::atomic<bool>* stop) {
  GoalOptions options{.noise = program.noise.get(), .stop = stop};
  if (!program.machine) return run(program.schedule, program.network, options);
  const auto memory = domains_of(program);
  if (!memory) return memory.error();
  options.memory = &*memory;
  return run(program.schedule, program.network, options);
}

support::Scenario scenery_of(const ScheduledProgram& program) {
  support::Scenario scenario;
  scenario.machine = program.machine.value_or(support::Machine{.ranks_per_domain = program.schedule.ranks()});
  scenario.machine.ranks = program.schedule.ranks();
  scenario.program.steps = 1;
  scenario.program.kernel = program.machine ? support::Kernel::kMemory : support::Kernel::kCore;
  scenario.program.volume = 1'000'000'000;
  scenario.program.time = std::chrono::seconds(1);
  scenario.communication.distances.clear();
  return scenario;
}

wire::Result<std::unique_ptr<ScheduleSimulation>> simulate(const ScheduledProgram& program, core::Recorder& recorder,
                                                           const std::atomic<bool>* stop) {
  auto memory = domains_of(program);
  if (!memory) return memory.error();
  auto simulation = std::make_unique<Watched>(program, std::move(*memory), recorder);
  if (const wire::Status begun = simulation->begin(stop); !begun) return begun.error();
  return std::unique_ptr<ScheduleSimulation>(std::move(simulation));
}

}  // namespace idlewave::sim::network
