#pragma once
// Idle waves as the map and the lines around it tell them: which one, and how its fronts run.

#include <string>

#include "monitor/analysis/waves/waves.h"
#include "monitor/view/layout/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view::map {

/// The latest that had begun by then; null if none had.
const analysis::waves::Wave* last_wave(const std::vector<analysis::waves::Wave>& waves, Nanoseconds until);

/// When the last rank that it is known to have reached went on.
Nanoseconds last_departure(const analysis::waves::Wave& wave);

/// The one that the cursor stands on the origin of, else the latest that the map shows the begin of; null if none.
const analysis::waves::Wave* wave_to_draw(const layout::Layout& layout, const State& state, const Model& model);

/// "19 ranks, 1.00 ranks/step, 16.4 ranks/s" or "19 ranks in one step": how far a front came, and how fast its leading edge.
std::string front_in_words(const analysis::waves::WaveDirection& direction);

/// "rank 5, step 40: up 19 ranks, 1.00 ranks/step, 16.4 ranks/s, down ..."
std::string in_words(const analysis::waves::Wave& wave);

}  // namespace idlewave::view::map
