#pragma once
// The panel that lists pairs of ranks: what one sent the other, and whether that left the socket or the node. There while
// it has the focus.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

layout::Panel messages_panel();

}  // namespace idlewave::view::panels
