#pragma once
// One socket, told in several lines with bars.

#include "monitor/view/layout/layout.h"
#include "monitor/view/panels/sockets.h"

namespace idlewave::view::panels {

/// Lines of their own, beside the 4 that there always are.
struct SocketLines {
  bool mean_below = false;
  bool threads = false;
  int meters = 0;  ///< What is more of them is left out.
  int count() const { return 4 + int(mean_below) + int(threads) + meters; }
};

/// That its meters take in a box of so many columns.
int lines_of_meters(const Socket& socket, int columns);

/// From the top of `box` on.
void draw_socket(paint::Canvas& canvas, const layout::Box& box, const Socket& socket, const SocketLines& lines,
                 bool focused);

}  // namespace idlewave::view::panels
