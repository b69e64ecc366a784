#pragma once
// How many processes compute on each contention domain, against how many its memory can feed.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

layout::Panel sockets_panel();

}  // namespace idlewave::view::panels
