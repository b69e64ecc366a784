#pragma once
// What to look for, what is asked, and what was found: the page of the lesson that is open.

#include "monitor/view/layout/panel.h"

namespace idlewave::view::panels {

layout::Panel lesson_panel();

}  // namespace idlewave::view::panels
