#pragma once
// The page of a lesson as lines: some of them in the panel, all of them over the whole screen.

#include <string>
#include <vector>

#include "monitor/view/layout/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/panels/lesson_figures.h"
#include "monitor/view/state.h"

namespace idlewave::view::panels {

inline constexpr PanelKey kLessonKey = U'4';

/// In `room`: text, what the moment asks for, and the keys. Where there is too little of it the text is cut first, then what the moment
/// asks for; the keys stay.
std::vector<LessonLine> lesson_lines(const Lesson& lesson, paint::Size room);

/// What it asks or has found.
bool says_more_than_a_line(const Lesson& lesson, int columns);

/// Covers the screen with all of the page, as far as it has been scrolled; the last row has the keys.
void draw_lesson_page(paint::Canvas& canvas, const State& state, const Model& model);
/// Down by so many lines, as far as there are any on a screen of that size.
void scroll_lesson(State& state, const Model& model, paint::Size size, int lines);

/// On the row of the time axis, where there is no room for the panel: which page it is, and which key shows it.
void draw_lesson_reminder(paint::Canvas& canvas, const layout::Layout& layout, const Model& model);

}  // namespace idlewave::view::panels
