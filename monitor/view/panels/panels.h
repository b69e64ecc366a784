#pragma once
// All panels, in one table: it is what places, draws, scrolls and focuses them, and what `?` shows.

#include <span>

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

/// In the order of Tab, and of the rows below the map.
std::span<const layout::Panel> all_panels();

/// `key` is that of a panel.
const layout::Panel& panel_of(PanelKey key);

}  // namespace idlewave::view::panels
