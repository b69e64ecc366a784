#include "monitor/view/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/pieces.h"
#include "monitor/view/text.h"

namespace idlewave::view {
namespace {

constexpr int kLowestScreen = 14;
/// A listing takes so much of a screen, and of a low one these rows.
constexpr int kShareOfRows = 3, kFewestRows = 7;

void draw_line(Canvas& canvas, const Box& box, int y, const std::vector<Column>& columns,
               const std::vector<std::string>& cells, Ink ink) {
  int x = box.x;
  for (std::size_t i = 0; i < columns.size() && x + columns[i].width <= box.x + box.width; ++i) {
    const Column& column = columns[i];
    const std::string cell = shortened(cells[i], column.width - 1);
    canvas.text(column.left ? x : x + column.width - columns_of(cell), y, cell, ink);
    x += column.width;
  }
}

}  // namespace

int rows_of_listing(int lines, Size screen) {
  if (screen.rows < kLowestScreen) return 0;
  return std::min(std::max(screen.rows / kShareOfRows, kFewestRows), lines == 0 ? 1 : lines + kListingHead);
}

void draw_listing(Canvas& canvas, const Box& box, const std::vector<std::string>& headline,
                  const std::vector<Column>& columns, const std::vector<ListingLine>& lines) {
  canvas.text(box.x, box.y, longest_fitting(headline, box.width), Ink::kText);
  if (lines.empty() || box.height < kListingHead) return;
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  draw_line(canvas, box, box.y + 1, columns, names, Ink::kDim);
  for (std::size_t i = 0; i < lines.size() && kListingHead + static_cast<int>(i) < box.height; ++i)
    draw_line(canvas, box, box.y + kListingHead + static_cast<int>(i), columns, lines[i].cells,
              lines[i].is_marked ? Ink::kCursor : Ink::kText);
}

}  // namespace idlewave::view
