#include "monitor/view/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/dialogue.h"
#include "monitor/view/figures.h"
#include "monitor/view/help.h"
#include "monitor/view/layout.h"
#include "monitor/view/lesson_page.h"
#include "monitor/view/moment.h"
#include "monitor/view/panels.h"
#include "monitor/view/sockets.h"
#include "monitor/view/status_lines.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

constexpr int kStepColumns = 26;  // Step time and share of waiting.

void draw_one_line(Canvas& canvas, const State& state, const Model& model) {
  const int columns = canvas.size().columns;
  const Nanoseconds until = shown_until(state, model);
  const wire::Step step =
      until < model.timeline.now() ? latest_step_at(model.timeline, until) : model.timeline.latest_step();
  const Fit line = fit({{.text = active_in_words(model, columns), .ink = Ink::kStrong, .weight = 9, .bold = true},
                        {.text = step == wire::kNoStep ? "" : fmt::format("step {}", step), .weight = 3},
                        {.text = to_moment(until, std::chrono::milliseconds(100)), .weight = 4},
                        carrier_piece(state, model)},
                       columns);
  // The count outlives the state of the link, whatever their weights are elsewhere.
  const bool counts = std::any_of(line.shown.begin(), line.shown.end(), [](const Piece& p) { return p.weight == 9; });
  if (counts || model.timeline.ranks() == 0) return draw_pieces(canvas, 0, 0, columns, line.shown);
  canvas.text(0, 0, active_in_words(model, columns), Ink::kStrong, Ink::kDefault, true);
}

/// What the title has no room for stands at the end of the line about steps.
void draw_status(Canvas& canvas, const Layout& layout, const State& state, const Model& model) {
  const int columns = canvas.size().columns - 2;
  const Fit title = fit(title_pieces(layout, state, model), columns);
  if (layout.title >= 0) draw_pieces(canvas, 1, layout.title, columns, title.shown);
  const std::string trouble = alert(model);
  if (!trouble.empty()) {
    const int y = layout.step >= 0 ? layout.step : canvas.size().rows - 1;
    canvas.fill(0, y, canvas.size().columns, 1, Cell{});
    canvas.text(1, y, shortened(trouble, columns), Ink::kError, Ink::kDefault, true);
    return;
  }
  if (layout.step < 0) return;
  std::vector<Piece> homeless;
  int room = columns;
  for (Piece piece : title.left_out) {
    if (piece.weight < kAskedFor) continue;
    piece.right = true;
    room -= columns_of(piece.text) + 2;
    homeless.push_back(std::move(piece));
  }
  auto pieces = step_pieces(layout, state, model, std::max(room, std::min(columns, kStepColumns)));
  pieces.insert(pieces.end(), homeless.begin(), homeless.end());
  draw_pieces(canvas, 1, layout.step, columns, fit(std::move(pieces), columns).shown);
}

void draw_lines(Canvas& canvas, const Layout& layout) {
  if (layout.rule >= 0) canvas.fill(0, layout.rule, canvas.size().columns, 1, {.glyph = U'─', .fg = Ink::kDim});
  if (!layout.beside.empty())
    canvas.fill(layout.beside.x - 2, layout.beside.y, 1, layout.beside.height, {.glyph = U'│', .fg = Ink::kDim});
}

/// The map shows by its cursor that it has the focus.
void draw_focus(Canvas& canvas, const Layout& layout, PanelKey focus) {
  if (focus == kMapKey || !layout.shows(focus)) return;
  const Box box = layout.box_of(focus);
  canvas.text(box.x - 1, box.y, "▸", Ink::kCursor);
}

void draw_all(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look) {
  draw_lines(canvas, layout);
  for (const Placed& placed : layout.placed) panel_of(placed.panel).draw(canvas, layout, state, model, look);
  draw_focus(canvas, layout, state.focus);
  if (model.session.lesson && !layout.shows(kLessonKey)) draw_lesson_reminder(canvas, layout, model);
  draw_key_line(canvas, layout.keys, model.session);
  draw_status(canvas, layout, state, model);
}

Canvas in_ascii(Canvas canvas) {
  for (int y = 0; y < canvas.size().rows; ++y) {
    for (int x = 0; x < canvas.size().columns; ++x) {
      Cell cell = canvas.at(x, y);
      cell.glyph = ascii_of(cell.glyph);
      canvas.put(x, y, cell);
    }
  }
  return canvas;
}

}  // namespace

Nanoseconds shown_moment(const State& state, const Model& model, Size size, const Look& look) {
  return moment_of(state, model, lay_out(panels(), state, model, size, look));
}

std::optional<analysis::Window> ghost_window(const State& state, const Model& model, Size size, const Look& look) {
  const Layout layout = lay_out(panels(), state, model, size, look);
  if (layout.tiny || model.timeline.empty()) return std::nullopt;
  return ghost_window(state, model, layout);
}

Canvas draw(const State& state, const Model& model, Size size, const Look& look) {
  Canvas canvas(size);
  const Layout layout = lay_out(panels(), state, model, size, look);
  if (state.help) {
    draw_help(canvas, state, model.session);
  } else {
    if (state.lesson_open && model.session.lesson)
      draw_lesson_page(canvas, state, model);
    else if (layout.tiny)
      draw_one_line(canvas, state, model);
    else
      draw_all(canvas, layout, state, model, look);
    draw_dialogue(canvas, state, model);
  }
  return look.unicode ? canvas : in_ascii(std::move(canvas));
}

}  // namespace idlewave::view
