#pragma once
// What to look for and which key to press, one page at a time.

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel lesson_panel();

/// Moves through the pages, stopping at their ends.
void turn_page(State& state, const Model& model, int pages);

}  // namespace idlewave::view
