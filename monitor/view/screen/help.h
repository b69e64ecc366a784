#pragma once
// Which keys there are: the line at the bottom, and the screen of `?`. Both are printed from the table of bindings.

#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::screen {

/// What this session can do, and nothing for a row below 0.
void draw_key_line(paint::Canvas& canvas, int y, const SessionInfo& session);

/// Covers the screen with every binding that does something in this session.
void draw_help(paint::Canvas& canvas, const State& state, const SessionInfo& session);

}  // namespace idlewave::view::screen
