#pragma once
// How many processes compute on each contention domain, against how many its memory can feed.

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel sockets_panel();

}  // namespace idlewave::view
