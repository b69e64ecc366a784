#include "monitor/view/panels/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {
namespace {

constexpr int kLowestScreen = 14;
/// A listing takes so much of a screen, and of a low one these rows.
constexpr int kShareOfRows = 3, kFewestRows = 7;

void draw_line(paint::Canvas& canvas, const layout::Box& box, int y, const std::vector<Column>& columns,
               const std::vector<std::string>& cells, paint::Ink ink) {
  int x = box.x;
  for (std::size_t i = 0; i < columns.size() && x + columns[i].width <= box.x + box.width; ++i) {
    const Column& column = columns[i];
    const std::string cell = paint::shortened(cells[i], column.width - 1);
    canvas.text(column.left ? x : x + column.width - paint::columns_of(cell), y, cell, ink);
    x += column.width;
  }
}

}  // namespace

int rows_of_listing(int lines, paint::Size screen) {
  if (screen.rows < kLowestScreen) return 0;
  return std::min(std::max(screen.rows / kShareOfRows, kFewestRows), lines == 0 ? 1 : lines + kListingHead);
}

void draw_listing(paint::Canvas& canvas, const layout::Box& box, const std::vector<std::string>& headline,
                  const std::vector<Column>& columns, const std::vector<ListingLine>& lines) {
  canvas.text(box.x, box.y, paint::longest_fitting(headline, box.width), paint::Ink::kText);
  if (lines.empty() || box.height < kListingHead) return;
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  draw_line(canvas, box, box.y + 1, columns, names, paint::Ink::kDim);
  for (std::size_t i = 0; i < lines.size() && kListingHead + static_cast<int>(i) < box.height; ++i)
    draw_line(canvas, box, box.y + kListingHead + static_cast<int>(i), columns, lines[i].cells,
              lines[i].is_marked ? paint::Ink::kCursor : paint::Ink::kText);
}

}  // namespace idlewave::view::panels
