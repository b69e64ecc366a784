#include "monitor/view/screen/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/layout/layout.h"
#include "monitor/view/layout/moment.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/lesson_page.h"
#include "monitor/view/panels/panels.h"
#include "monitor/view/panels/sockets.h"
#include "monitor/view/screen/dialogue.h"
#include "monitor/view/screen/help.h"
#include "monitor/view/screen/status_lines.h"

namespace idlewave::view::screen {

namespace {

using layout::Layout;
using paint::Canvas;
using paint::Ink;

constexpr int kStepColumns = 26;  // Step time and share of waiting.

void draw_one_line(Canvas& canvas, const State& state, const Model& model) {
  const int columns = canvas.size().columns;
  const Nanoseconds until = layout::shown_until(state, model);
  const wire::Step step = layout::step_shown(model, until);
  const paint::Fit line =
      paint::fit({{.text = panels::active_in_words(model, columns), .ink = Ink::kStrong, .weight = 9, .bold = true},
                  {.text = step == wire::kNoStep ? "" : fmt::format("step {}", step), .weight = 3},
                  {.text = paint::to_moment(until, std::chrono::milliseconds(100)), .weight = 4},
                  carrier_piece(state, model)},
                 columns);
  // The count outlives the state of the link, whatever their weights are elsewhere.
  const bool counts =
      std::any_of(line.shown.begin(), line.shown.end(), [](const paint::Piece& p) { return p.weight == 9; });
  if (counts || model.timeline.ranks() == 0) return paint::draw_pieces(canvas, 0, 0, columns, line.shown);
  canvas.text(0, 0, panels::active_in_words(model, columns), Ink::kStrong, Ink::kDefault, true);
}

/// What the title has no room for stands at the end of the line about steps.
void draw_status(Canvas& canvas, const Layout& layout, const State& state, const Model& model) {
  const int columns = canvas.size().columns - 2;
  const paint::Fit title = paint::fit(title_pieces(layout, state, model), columns);
  if (layout.title >= 0) paint::draw_pieces(canvas, 1, layout.title, columns, title.shown);
  const std::string trouble = alert(model);
  if (!trouble.empty()) {
    const int y = layout.step >= 0 ? layout.step : canvas.size().rows - 1;
    canvas.fill(0, y, canvas.size().columns, 1, paint::Cell{});
    canvas.text(1, y, paint::shortened(trouble, columns), Ink::kError, Ink::kDefault, true);
    return;
  }
  if (layout.step < 0) return;
  std::vector<paint::Piece> homeless;
  int room = columns;
  for (paint::Piece piece : title.left_out) {
    if (piece.weight < kAskedFor) continue;
    piece.right = true;
    room -= paint::columns_of(piece.text) + 2;
    homeless.push_back(std::move(piece));
  }
  auto pieces = step_pieces(layout, state, model, std::max(room, std::min(columns, kStepColumns)));
  pieces.insert(pieces.end(), homeless.begin(), homeless.end());
  paint::draw_pieces(canvas, 1, layout.step, columns, paint::fit(std::move(pieces), columns).shown);
}

void draw_lines(Canvas& canvas, const Layout& layout) {
  if (layout.rule >= 0) canvas.fill(0, layout.rule, canvas.size().columns, 1, {.glyph = U'─', .fg = Ink::kDim});
  if (!layout.beside.empty())
    canvas.fill(layout.beside.x - 2, layout.beside.y, 1, layout.beside.height, {.glyph = U'│', .fg = Ink::kDim});
}

/// The map shows by its cursor that it has the focus.
void draw_focus(Canvas& canvas, const Layout& layout, PanelKey focus) {
  if (focus == kMapKey || !layout.shows(focus)) return;
  const layout::Box box = layout.box_of(focus);
  canvas.text(box.x - 1, box.y, "▸", Ink::kCursor);
}

void draw_all(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look) {
  draw_lines(canvas, layout);
  for (const layout::Placed& placed : layout.placed)
    panels::panel_of(placed.panel).draw(canvas, layout, state, model, look);
  draw_focus(canvas, layout, state.focus);
  if (model.session.lesson && !layout.shows(panels::kLessonKey)) panels::draw_lesson_reminder(canvas, layout, model);
  draw_key_line(canvas, layout.keys, model.session);
  draw_status(canvas, layout, state, model);
}

Canvas in_ascii(Canvas canvas) {
  for (int y = 0; y < canvas.size().rows; ++y) {
    for (int x = 0; x < canvas.size().columns; ++x) {
      paint::Cell cell = canvas.at(x, y);
      cell.glyph = paint::ascii_of(cell.glyph);
      canvas.put(x, y, cell);
    }
  }
  return canvas;
}

}  // namespace

Nanoseconds shown_moment(const State& state, const Model& model, paint::Size size, const Look& look) {
  return layout::moment_of(state, model, layout::lay_out(panels::all_panels(), state, model, size, look));
}

std::optional<analysis::Window> ghost_window(const State& state, const Model& model, paint::Size size,
                                             const Look& look) {
  const Layout layout = layout::lay_out(panels::all_panels(), state, model, size, look);
  if (layout.tiny || model.timeline.empty()) return std::nullopt;
  return ghost_window(state, model, layout);
}

Canvas draw(const State& state, const Model& model, paint::Size size, const Look& look) {
  Canvas canvas(size);
  const Layout layout = layout::lay_out(panels::all_panels(), state, model, size, look);
  if (state.help) {
    draw_help(canvas, state, model.session);
  } else {
    if (state.lesson_open && model.session.lesson)
      panels::draw_lesson_page(canvas, state, model);
    else if (layout.tiny)
      draw_one_line(canvas, state, model);
    else
      draw_all(canvas, layout, state, model, look);
    draw_dialogue(canvas, state, model);
  }
  return look.unicode ? canvas : in_ascii(std::move(canvas));
}

}  // namespace idlewave::view::screen
