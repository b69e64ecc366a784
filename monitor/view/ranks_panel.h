#pragma once
// The panel that lists ranks: what each costs the others, and whom it waits for.

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel ranks_panel();

}  // namespace idlewave::view
