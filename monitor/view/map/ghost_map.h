#pragma once
// Where ranks leave the ghost (analysis/program/ghost.h), on the map instead of what they did.

#include <span>
#include <string>

#include "monitor/analysis/program/ghost.h"
#include "monitor/view/layout/step_window.h"
#include "monitor/view/layout/time_window.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::map {

/// Null unless the map is to show it, and there is one.
const analysis::program::Ghost* ghost_shown(const State& state, const Model& model);

/// The largest departure of a row's ranks in a column.
struct DepartureCell {
  bool known = false;
  /// Above 0: later than the ghost. In steps.
  float steps = 0;
};

/// out[row * columns + column]. Departures at work stand where the rank worked, the others where it waited.
void departures_over_time(const analysis::program::Ghost& ghost, std::span<const RankRange> rows,
                          const layout::TimeWindow& window, std::span<DepartureCell> out);
/// The larger one of each step.
void departures_over_steps(const analysis::program::Ghost& ghost, std::span<const RankRange> rows,
                           const layout::StepWindow& window, std::span<DepartureCell> out);

paint::Ink ink_of(const DepartureCell& cell);

/// Share of a step from which on a shade of kWait0 to kWait7 is shown; of shade 8: a whole one.
float later_from(int shade);

/// "0.2 ms later at work, 1.2 ms later by waiting": of the step that the rank was in then; empty where it is not known.
std::string departure_in_words(const analysis::program::Ghost& ghost, Rank rank, Nanoseconds at);

/// "ghost: 4.1 % of the time is not the model's, most by rank 7, step 50: 40 ms later at work", or why there is none;
/// longest first.
std::vector<std::string> ghost_in_words(const wire::Result<analysis::program::Ghost>& ghost);

}  // namespace idlewave::view::map
