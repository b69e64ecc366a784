#pragma once
// All panels, in one table: it is what places, draws, scrolls and focuses them, and what `?` shows.

#include <span>

#include "monitor/view/panel.h"

namespace idlewave::view {

/// In the order of Tab, and of the rows below the map.
std::span<const Panel> panels();

/// `key` is that of a panel.
const Panel& panel_of(PanelKey key);

}  // namespace idlewave::view
