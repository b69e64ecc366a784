#pragma once
// What makes the map readable: ranks to its left, time below it, the legend, and what is under the cursor.

#include "monitor/view/layout/layout.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::map {

void draw_rank_axis(paint::Canvas& canvas, const layout::Layout& layout, const State& state);
void draw_time_axis(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model);
void draw_legend(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                 const Look& look);

}  // namespace idlewave::view::map
