#pragma once
// A recorded run's own disturbances, step by step, for the simulator.

#include "monitor/analysis/program/program.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/support/scenario.h"

namespace idlewave::model {

/// Of a run on so many times the ranks that were recorded: r + j p does what r did, of p. Silent behind the recorded
/// steps. `noise` outlives it.
class RecordedNoise final : public sim::core::PhaseNoise {
 public:
  explicit RecordedNoise(const analysis::domains::OwnNoise& noise) : noise_(noise) {}
  double after(wire::Rank rank, wire::Step step, double begin, double end) const override;

 private:
  const analysis::domains::OwnNoise& noise_;
};

/// Share of what the program does beside everybody's work that ranks did not tell as noise: to them it was work. Of their
/// own noise alone, or of that and of late messages, which are waiting.
double work_in_own_noise(const analysis::program::Program& program);
double work_in_all_noise(const analysis::program::Program& program);

/// The scenario, held where the program was; and, as idle time before the next step, what each wait lasted beyond its
/// messages.
support::Scenario with_own_delays(support::Scenario scenario, const analysis::program::Program& program);

}  // namespace idlewave::model
