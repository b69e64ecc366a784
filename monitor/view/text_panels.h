#pragma once
// Panels of running text: what happened, what to look for, which keys there are, and the line that talks with the
// operator.

#include "monitor/view/canvas.h"
#include "monitor/view/layout.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view {

void draw_events(Canvas& canvas, const Layout& layout, const State& state, const Model& model);
void draw_lesson(Canvas& canvas, const Layout& layout, const State& state, const Model& model);
void draw_key_line(Canvas& canvas, int y);

/// Form or message, over the last rows of the screen; nothing if there is neither.
void draw_dialogue(Canvas& canvas, const State& state, const Model& model);

/// Covers the screen with every binding.
void draw_help(Canvas& canvas, const State& state);

}  // namespace idlewave::view
