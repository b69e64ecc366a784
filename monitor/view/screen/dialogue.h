#pragma once
// The line at the bottom that talks with the operator: a form, or a message.

#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::screen {

/// Over the last rows of the screen; nothing if there is neither.
void draw_dialogue(paint::Canvas& canvas, const State& state, const Model& model);

}  // namespace idlewave::view::screen
