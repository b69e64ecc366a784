#pragma once
// Pictures to show: random ones, and one that looks as the monitor's screen does.

#include <random>

#include "monitor/view/paint/canvas.h"

namespace idlewave::term {

using Random = std::mt19937;

view::paint::Cell random_cell(Random& random, bool unicode);
view::paint::Canvas random_picture(Random& random, view::paint::Size size, bool unicode = true);
/// `picture` with one to a hundred cells changed, and sometimes a part of it moved.
view::paint::Canvas changed(Random& random, const view::paint::Canvas& picture, bool unicode = true);

/// A heat map of two ranks a row with waves running through it, and a panel to its right; `newest` is the column of
/// time at the right edge.
view::paint::Canvas heat_map(view::paint::Size size, int newest);

}  // namespace idlewave::term
