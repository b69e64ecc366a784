#include "monitor/view/paint/canvas.h"

#include <algorithm>

#include "monitor/view/paint/text.h"

namespace idlewave::view::paint {

namespace {
const Cell kOutside{};
}

Canvas::Canvas(Size size) : size_{std::max(size.columns, 0), std::max(size.rows, 0)} {
  cells_.resize(static_cast<std::size_t>(size_.columns) * static_cast<std::size_t>(size_.rows));
}

const Cell& Canvas::at(int x, int y) const {
  const bool inside = x >= 0 && y >= 0 && x < size_.columns && y < size_.rows;
  return inside ? cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.columns) +
                         static_cast<std::size_t>(x)]
                : kOutside;
}

void Canvas::put(int x, int y, const Cell& cell) {
  if (x < 0 || y < 0 || x >= size_.columns || y >= size_.rows) return;
  Cell& place =
      cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(size_.columns) + static_cast<std::size_t>(x)];
  place = cell;
  place.glyph = one_column(cell.glyph);
}

int Canvas::text(int x, int y, std::string_view utf8, Ink fg, Ink bg, bool bold, int max_columns) {
  for (int written = 0; !utf8.empty() && written != max_columns && x < size_.columns; ++written) {
    put(x++, y, Cell{.glyph = take_code_point(utf8), .fg = fg, .bg = bg, .bold = bold});
  }
  return x;
}

void Canvas::fill(int x, int y, int width, int height, const Cell& cell) {
  for (int row = y; row < y + height; ++row) {
    for (int column = x; column < x + width; ++column) put(column, row, cell);
  }
}

void Canvas::reverse(int x, int y, int width) {
  for (int column = x; column < x + width; ++column) {
    Cell cell = at(column, y);
    cell.reverse = !cell.reverse;
    put(column, y, cell);
  }
}

std::string to_text(const Canvas& canvas) {
  std::string out;
  for (int y = 0; y < canvas.size().rows; ++y) {
    const std::size_t line = out.size();
    for (int x = 0; x < canvas.size().columns; ++x) append_utf8(out, canvas.at(x, y).glyph);
    while (out.size() > line && out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

}  // namespace idlewave::view::paint
