#pragma once
// A recorded run beside the same one simulated.

#include <atomic>
#include <string>
#include <vector>

#include "monitor/analysis/program/program.h"
#include "probe/words/window.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/support/scenario.h"

namespace idlewave::model {

/// The same figures of both.
struct Figures {
  /// Seconds, from the first step's begin to the end of the last one.
  double makespan = 0;
  /// Mean, seconds.
  double step_time = 0;
  /// Of each domain: ranks at work, on average over a window; delays, and noise that was told of, excluded.
  std::vector<double> active_means;
};

/// `window`: fractions of the makespan.
Figures measured(const analysis::program::Program& program, wire::Rank ranks_per_domain, words::Fractions window);
/// Of the scenario with this noise (null: silent). `work_in_noise`: share of the noise that is at work by the recording's
/// word. Error: what the simulator refuses; also if `stop` ended it.
wire::Result<Figures> simulated(const support::Scenario& scenario, const sim::core::PhaseNoise* noise,
                                double work_in_noise, words::Fractions window, const std::atomic<bool>* stop = nullptr);

/// Sentences: where the model is farther from the run than it is to be (2 % of the makespan, 3 % of the ranks at work in some
/// domain), and of what that tells. `own`: with the noise that was recorded; null where that was not simulated.
std::vector<std::string> differences(const Figures& life, const Figures* own, const Figures& drawn);

}  // namespace idlewave::model
