#pragma once
// What happened, in words, the newest last.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

layout::Panel events_panel();

/// On a low screen they have one row, which a lesson gets for what it asks or has found, where a line does not hold that and nothing
/// else has the focus. `room`: as offered below the map.
bool give_row_to_lesson(const State& state, const Model& model, paint::Size room);

}  // namespace idlewave::view::panels
