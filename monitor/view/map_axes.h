#pragma once
// What makes the map readable: ranks to its left, time below it, the legend, and what is under the cursor.

#include "monitor/view/canvas.h"
#include "monitor/view/layout.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/state.h"

namespace idlewave::view {

void draw_rank_axis(Canvas& canvas, const Layout& layout, const State& state);
void draw_time_axis(Canvas& canvas, const Layout& layout, const State& state, const Model& model);
void draw_legend(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look);

}  // namespace idlewave::view
