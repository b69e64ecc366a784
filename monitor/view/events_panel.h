#pragma once
// What happened, in words, the newest last.

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel events_panel();

}  // namespace idlewave::view
