#pragma once
// One socket, told in several lines with bars.

#include "monitor/view/layout.h"
#include "monitor/view/sockets.h"

namespace idlewave::view {

/// From the top of `box` on, in 4 lines; 5 with a line of its own for the mean.
void draw_socket(Canvas& canvas, const Box& box, const Socket& socket, bool with_mean_below, bool focused);

}  // namespace idlewave::view
