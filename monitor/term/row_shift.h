#pragma once
// A heat map that scrolls moves every row by a few columns. ncurses does not see that and writes each row anew; a
// terminal that can delete and insert cells needs two dozen bytes for it. Pure.

#include <string>
#include <vector>

#include "monitor/view/paint/canvas.h"

namespace idlewave::term {

/// Columns [left, right) of row y move to the left by `by`; the last `by` of them become blank in the terminal's own
/// colours.
struct RowShift {
  int y = 0;
  int left = 0;
  int right = 0;
  int by = 0;
  friend bool operator==(const RowShift&, const RowShift&) = default;
};

/// The shifts after which `before`, of the same size, is much closer to `after`; at most one a row, all by the same
/// number of columns.
std::vector<RowShift> find_shifts(const view::paint::Canvas& before, const view::paint::Canvas& after);

/// For terminals with ECMA-48's CUP, DCH and ICH and DEC's save and restore cursor; leaves cursor and attributes as
/// they were.
std::string shift_sequence(const std::vector<RowShift>& shifts);

}  // namespace idlewave::term
