#pragma once
// Ranks against time: the heat map with its axes and its legend.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::map {

layout::Panel map_panel();

}  // namespace idlewave::view::map
