#include "monitor/model/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

constexpr double kCloseMakespan = 0.02, kCloseActivity = 0.03;

double off(double model, double life) { return life == 0 ? 0 : std::abs(model / life - 1); }

/// The domain of whose activity the model is farthest from the run.
std::size_t worst_domain(const Figures& life, const Figures& model) {
  std::size_t worst = 0;
  for (std::size_t i = 0; i < std::min(life.active_means.size(), model.active_means.size()); ++i)
    if (off(model.active_means[i], life.active_means[i]) > off(model.active_means[worst], life.active_means[worst]))
      worst = i;
  return worst;
}

/// "domain 2 has 4.1 ranks at work for 5", or how long the run takes; empty where the model is close to it.
std::string difference(const Figures& life, const Figures& model) {
  if (off(model.makespan, life.makespan) > kCloseMakespan)
    return fmt::format("the run takes {:.4g} s for {:.4g}", model.makespan, life.makespan);
  if (life.active_means.empty() || model.active_means.empty()) return {};
  const std::size_t worst = worst_domain(life, model);
  if (off(model.active_means[worst], life.active_means[worst]) <= kCloseActivity) return {};
  return fmt::format("domain {} has {:.3g} ranks at work for {:.3g}", worst, model.active_means[worst],
                     life.active_means[worst]);
}

}  // namespace

std::vector<std::string> differences(const Figures& life, const Figures* own, const Figures& drawn) {
  const std::string with_own = own ? difference(life, *own) : std::string(), with_drawn = difference(life, drawn);
  std::vector<std::string> lines;
  if (!with_own.empty())
    lines.push_back(fmt::format(
        "with its own noise, as it was recorded, {}: the model's work, contention or partners are not the run's",
        with_own));
  else if (own && !with_drawn.empty())
    lines.push_back(fmt::format(
        "with drawn noise {}, and with its own noise it is as measured: when and whom noise hit made the difference, "
        "not how much it was",
        with_drawn));
  return lines;
}

Figures measured(const analysis::program::Program& program, wire::Rank ranks_per_domain, words::Fractions window) {
  const Nanoseconds begin = program.steps.begin(), length = program.steps.end() - begin;
  const auto at = [&](double fraction) { return begin + Nanoseconds(std::int64_t(fraction * double(length.count()))); };
  const double makespan = std::chrono::duration<double>(length).count();
  return {makespan, makespan / double(program.steps.steps()),
          analysis::program::mean_at_work(program.steps, ranks_per_domain, at(window.from), at(window.to))};
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
