#include "monitor/model/comparison.h"

#include "workloads/sim/core/active_window.h"
#include "workloads/sim/simulator.h"

namespace idlewave::model {
namespace {

using wire::Nanoseconds;
using wire::Phase;
using wire::Rank;
using wire::Step;

/// Takes the first part of each noise for work.
class PartlyWork final : public sim::core::Recorder {
 public:
  PartlyWork(Rank ranks, double share, Recorder& next) : share_(share), next_(next), since_(std::size_t(ranks), -1) {}

  void step_begins(Rank rank, Step step, double time) override { next_.step_begins(rank, step, time); }
  void enters(Rank rank, Step step, Phase phase, double time) override {
    double& since = since_[std::size_t(rank)];
    if (since >= 0) next_.enters(rank, step, Phase::kNoise, since + share_ * (time - since));
    since = phase == Phase::kNoise ? time : -1;
    if (phase != Phase::kNoise) next_.enters(rank, step, phase, time);
  }

 private:
  double share_;
  Recorder& next_;
  /// By rank: when its noise began; less than 0 while there is none.
  std::vector<double> since_;
};

}  // namespace

Figures measured(const analysis::Program& program, wire::Rank ranks_per_domain, words::Fractions window) {
  const Nanoseconds begin = program.steps.begin(), length = program.steps.end() - begin;
  const auto at = [&](double fraction) { return begin + Nanoseconds(std::int64_t(fraction * double(length.count()))); };
  const double makespan = std::chrono::duration<double>(length).count();
  return {makespan, makespan / double(program.steps.steps()),
          analysis::mean_at_work(program.steps, ranks_per_domain, at(window.from), at(window.to))};
}

wire::Result<Figures> simulated(const support::Scenario& scenario, const sim::core::PhaseNoise* noise,
                                double work_in_noise, words::Fractions window, const std::atomic<bool>* stop) {
  const auto run = sim::run(scenario, {.noise = noise, .stop = stop});
  if (!run) return run.error();
  sim::core::ActiveWindow active(scenario.machine.ranks, scenario.machine.ranks_per_domain,
                                 {window.from * run->makespan, window.to * run->makespan});
  PartlyWork recorder(scenario.machine.ranks, work_in_noise, active);
  const auto again = sim::run(scenario, {.noise = noise, .stop = stop, .recorder = &recorder});
  if (!again) return again.error();
  if (run->stopped || again->stopped) return wire::Error{"interrupted: the simulation has no end to compare"};
  return Figures{run->makespan, run->makespan / double(scenario.program.steps), active.means()};
}

}  // namespace idlewave::model
