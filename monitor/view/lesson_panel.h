#pragma once
// What to look for, what is asked, and what was found: the page of the lesson that is open.

#include "monitor/view/panel.h"

namespace idlewave::view {

Panel lesson_panel();

}  // namespace idlewave::view
