#include "monitor/model/own_noise.h"

#include <algorithm>

namespace idlewave::model {
namespace {

double sum(const analysis::domains::OwnNoise& noise) {
  double all = 0;
  for (const auto& rank : noise)
    for (const wire::Nanoseconds each : rank) all += double(each.count());
  return all;
}

/// Of `all` noise.
double work_in(const analysis::program::Program& program, double all) {
  double untold = sum(program.own_noise);
  for (const auto& rank : program.steps.ranks)
    for (const analysis::steps::RankStep& step : rank) untold -= double(step.noise.count());
  return all > 0 ? std::clamp(untold / all, 0.0, 1.0) : 0;
}

}  // namespace

double work_in_own_noise(const analysis::program::Program& program) { return work_in(program, sum(program.own_noise)); }

double work_in_all_noise(const analysis::program::Program& program) {
  return work_in(program, sum(program.own_noise) + sum(program.late_messages));
}

double RecordedNoise::after(wire::Rank rank, wire::Step step, double /*begin*/, double /*end*/) const {
  const auto& steps = noise_[std::size_t(rank) % noise_.size()];
  return std::size_t(step) < steps.size() ? std::chrono::duration<double>(steps[std::size_t(step)]).count() : 0;
}

support::Scenario with_own_delays(support::Scenario scenario, const analysis::program::Program& program) {
  scenario.delays.clear();
  const auto add = [&](wire::Rank rank, std::size_t step, wire::Nanoseconds duration) {
    if (duration.count() <= 0 || wire::Step(step) >= scenario.program.steps) return;
    for (; rank < scenario.machine.ranks; rank += program.ranks())
      scenario.delays.push_back({rank, wire::Step(step), duration});
  };
  for (const analysis::program::Hold& hold : program.holds) add(hold.rank, hold.step, hold.duration);
  for (wire::Rank rank = 0; rank < program.ranks(); ++rank) {
    const auto& late = program.late_messages[std::size_t(rank)];
    for (std::size_t k = 0; k < late.size(); ++k) add(rank, k + 1, late[k]);
  }
  return scenario;
}

}  // namespace idlewave::model
