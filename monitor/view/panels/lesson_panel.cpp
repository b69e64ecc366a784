#include "monitor/view/panels/lesson_panel.h"

#include <algorithm>

#include "monitor/view/layout/layout.h"
#include "monitor/view/panels/events_panel.h"
#include "monitor/view/panels/lesson_page.h"

namespace idlewave::view::panels {

namespace {

constexpr int kMostLinesIfLow = 2;
constexpr int kMostLines = 5;
constexpr int kMostLinesBeside = 10;
constexpr paint::Size kNarrowest{20, 5};

/// Who reads it, and has the focus on it, gets more of it; so does what was measured.
int wish_for_lesson(const State& state, const Model& model, const layout::Room& room) {
  if (!model.session.lesson) return 0;
  const int rows = room.size.rows;
  const bool is_low = rows < 30;
  const int figures = is_low ? 0 : int(figure_lines(*model.session.lesson, room.size.columns).size());
  const int unasked = (room.region == layout::Region::kBeside ? kMostLinesBeside
                       : is_low ? kMostLinesIfLow + int(give_row_to_lesson(state, model, room.size))
                                : kMostLines) +
                      figures;
  const int most = std::min(state.focus == kLessonKey ? std::max(rows / 2, unasked) : unasked, rows);
  return static_cast<int>(lesson_lines(*model.session.lesson, {room.size.columns, most}).size());
}

void draw_lesson(paint::Canvas& canvas, const layout::Layout& layout, const State&, const Model& model, const Look&) {
  const layout::Box box = layout.box_of(kLessonKey);
  int y = box.y;
  for (const LessonLine& line : lesson_lines(*model.session.lesson, {box.width, box.height}))
    canvas.text(box.x, y++, line.text, line.ink, paint::Ink::kDefault, line.bold, box.width);
}

/// What is cut is read where there is room for all of it.
void open(State& state, const Model& model, int lines) {
  state.lesson_open = model.session.lesson.has_value();
  scroll_lesson(state, model, kNarrowest, lines);
}

}  // namespace

layout::Panel lesson_panel() {
  return {.key = kLessonKey,
          .name = "lesson",
          .region = layout::Region::kBottom,
          .region_if_wide = layout::Region::kBottom,
          .takes_spare_rows = false,
          .wish = wish_for_lesson,
          .draw = draw_lesson,
          .scroll = open,
          .beside_if_room = true};
}

}  // namespace idlewave::view::panels
