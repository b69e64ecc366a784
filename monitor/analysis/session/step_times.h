#pragma once
// What a step costs, and how far the ranks are apart.

#include <array>
#include <string>

#include "monitor/analysis/domains/activity.h"

namespace idlewave::analysis::session {

struct StepTimes {
  std::int64_t steps = 0;  ///< Completed rank-steps in the window.
  Nanoseconds mean{};      ///< Of a whole step.
  Nanoseconds compute_mean{};
  Nanoseconds wait_mean{};   ///< Waiting and communicating.
  Nanoseconds delay_mean{};  ///< Delays and noise.
  double time_share = 0;     ///< What they took of the time for which the ranks were there; 1 at most.
  Nanoseconds other_mean() const { return mean - compute_mean - wait_mean - delay_mean; }  ///< Outside any phase.
  double wait_share() const { return mean.count() > 0 ? double(wait_mean.count()) / double(mean.count()) : 0; }
};
/// Means over the steps that ended within the window.
StepTimes step_times(const timeline::Timeline& timeline, Window window);

/// Steps of some rank that may have ended in the window are not kept any more: where none is known to have, that says
/// nothing.
bool has_unknown_steps(const timeline::Timeline& timeline, Window window);

/// "steps found in MPI calls", or of how many ranks which; empty where nobody has told, or there are no steps.
std::string step_sources_in_words(const timeline::Timeline& timeline);

/// Spread of the moments at which the ranks began the same step: the latest that every rank still running had begun
/// before `at`.
struct Skew {
  wire::Step step = wire::kNoStep;
  Nanoseconds spread{};
};
Skew skew(const timeline::Timeline& timeline, Nanoseconds at);

}  // namespace idlewave::analysis::session
