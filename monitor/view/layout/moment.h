#pragma once
// The one moment that all panels tell of: the one that the map shows.

#include <optional>

#include "monitor/view/layout/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view::layout {

/// Where the cursor stands in time; nothing while it follows the newest column, or once a map that scrolls left it behind.
std::optional<Nanoseconds> cursor_in_sight(const State& state, const Model& model, const Layout& layout);

/// End of the column under the cursor; without a cursor in sight, of the map's last column, if that is past.
Nanoseconds moment_of(const State& state, const Model& model, const Layout& layout);

/// Of the map, and a quarter of it before: steps that its left edge cuts begin there.
analysis::Window ghost_window(const State& state, const Model& model, const Layout& layout);

/// Paused, or looking at what is over: what is known by now is more than what is shown.
bool shows_the_past(const State& state, const Model& model, const Layout& layout);

/// What was told up to here belongs on the screen; Nanoseconds::max() unless it shows the past.
Nanoseconds told_until(const State& state, const Model& model, const Layout& layout);

/// Largest step that a rank had begun at that moment; kNoStep if none had, or where ranks count steps differently.
wire::Step step_shown(const Model& model, Nanoseconds at);

/// The map's column in which a rank is at a moment, whichever axis there is; nothing if that is not on the map.
std::optional<int> column_of(const Layout& layout, const timeline::Timeline& timeline, Rank rank, Nanoseconds at);

}  // namespace idlewave::view::layout
