#pragma once
// Lines made of pieces that are shown whole or not at all, so that a figure never stands without its unit.

#include <string>
#include <vector>

#include "monitor/view/paint/canvas.h"

namespace idlewave::view::paint {

struct Piece {
  std::string text;
  Ink ink = Ink::kText;
  int weight = 0;      ///< The heaviest gets its place first.
  bool right = false;  ///< Stands at the right end.
  bool bold = false;
  bool reverse = false;
};

struct Fit {
  std::vector<Piece> shown;     ///< In their order; with two spaces between neighbours they fit.
  std::vector<Piece> left_out;  ///< In their order.
};
Fit fit(std::vector<Piece> pieces, int columns);

/// Draws pieces that fit into [x, x + columns).
void draw_pieces(Canvas& canvas, int x, int y, int columns, const std::vector<Piece>& shown, Ink bg = Ink::kDefault);

/// The longest of `variants` that fits, else nothing.
std::string longest_fitting(const std::vector<std::string>& variants, int columns);

}  // namespace idlewave::view::paint
