#pragma once
// Ranks against time: the heat map with its axes and its legend.

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel map_panel();

}  // namespace idlewave::view
