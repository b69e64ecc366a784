#pragma once
// Sockets as a table with a line for each.

#include <optional>

#include "monitor/view/layout/layout.h"
#include "monitor/view/panels/sockets.h"

namespace idlewave::view::panels {

/// Which of the sockets somebody looks at.
struct SocketLook {
  /// Negative: the cursor is in none.
  int cursor = -1;
  /// Lines from the top; none: wherever the cursor's is.
  std::optional<int> scrolled;
};

/// All, as their ranks stand. Of more than there are lines as many as there is room for, or how many are in each state
/// and those that are least active in it.
void draw_socket_table(paint::Canvas& canvas, const layout::Box& box, const SocketLook& look, const Model& model);

}  // namespace idlewave::view::panels
