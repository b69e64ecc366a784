#pragma once
// The panel that lists ranks: what each costs the others, and whom it waits for.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

layout::Panel ranks_panel();

}  // namespace idlewave::view::panels
