#pragma once
// Pictures to show: random ones, and one that looks as the monitor's screen does.

#include <random>

#include "monitor/view/canvas.h"

namespace idlewave::term {

using Random = std::mt19937;

view::Cell random_cell(Random& random, bool unicode);
view::Canvas random_picture(Random& random, view::Size size, bool unicode = true);
/// `picture` with one to a hundred cells changed, and sometimes a part of it moved.
view::Canvas changed(Random& random, const view::Canvas& picture, bool unicode = true);

/// A heat map of two ranks a row with waves running through it, and a panel to its right; `newest` is the column of
/// time at the right edge.
view::Canvas heat_map(view::Size size, int newest);

}  // namespace idlewave::term
