#include "monitor/view/panels/listing.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {
namespace {

/// What stands above the lines.
constexpr int kHead = 2;
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

/// Each at its row below the names of the columns.
void draw_table(const Listing& listing, paint::Canvas& canvas, const layout::Box& box, const State& state,
                const Model& model, int first, int end) {
  const std::vector<Column> columns = listing.columns(state);
  std::vector<std::string> names;
  for (const Column& column : columns) names.push_back(column.name);
  draw_line(canvas, box, box.y + 1, columns, names, paint::Ink::kDim);
  for (int i = first; i < end; ++i) {
    const ListingLine line = listing.line(state, model, static_cast<std::size_t>(i));
    draw_line(canvas, box, box.y + kHead + i - first, columns, line.cells,
              line.is_marked ? paint::Ink::kCursor : paint::Ink::kText);
  }
}

int last_line(const Listing& listing, const Model& model) { return std::max(listing.lines(model) - 1, 0); }

}  // namespace

int wish_of(const Listing& listing, const State& state, const Model& model, const layout::Room& room) {
  if (state.focus != listing.key || room.size.rows < kLowestScreen) return 0;
  const int lines = listing.lines(model);
  return std::min(std::max(room.size.rows / kShareOfRows, kFewestRows), lines == 0 ? 1 : lines + kHead);
}

void draw(const Listing& listing, paint::Canvas& canvas, const layout::Box& box, const State& state,
          const Model& model) {
  canvas.text(box.x, box.y, paint::longest_fitting(listing.headline(model), box.width), paint::Ink::kText);
  const int first = std::clamp(state.scrolled_by(listing.key), 0, last_line(listing, model));
  const int end = std::min(first + box.height - kHead, listing.lines(model));
  if (first < end) draw_table(listing, canvas, box, state, model, first, end);
}

void scroll(const Listing& listing, State& state, const Model& model, int lines) {
  state.scrolled[listing.key] = std::clamp(state.scrolled_by(listing.key) + lines, 0, last_line(listing, model));
}

}  // namespace idlewave::view::panels
