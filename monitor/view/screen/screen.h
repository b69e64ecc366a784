#pragma once
// The whole screen as a picture. Pure: the same arguments give the same cells.

#include <optional>

#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::screen {

/// Any size from 1x1 on. Costs what Timeline::picture costs for the map, and a small amount for each cell.
paint::Canvas draw(const State& state, const Model& model, paint::Size size, const Look& look);

/// The moment that such a screen shows: findings that are to stand on it had better be those of then.
Nanoseconds shown_moment(const State& state, const Model& model, paint::Size size, const Look& look);

/// Of what the ghost is to be found for such a screen; nothing if it shows no map.
std::optional<analysis::Window> ghost_window(const State& state, const Model& model, paint::Size size,
                                             const Look& look);

}  // namespace idlewave::view::screen
