#pragma once
// The panel that lists MPI functions: how often they were called, how long that took, what they carried. There while it
// has the focus.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

layout::Panel functions_panel();

}  // namespace idlewave::view::panels
