#pragma once
// Sockets as a table with a line for each.

#include <optional>

#include "monitor/view/layout.h"
#include "monitor/view/sockets.h"

namespace idlewave::view {

/// Which of the sockets somebody looks at.
struct SocketLook {
  /// Negative: the cursor is in none.
  int cursor = -1;
  /// Lines from the top; none: wherever the cursor's is.
  std::optional<int> scrolled;
};

/// All, as their ranks stand. Of more than there are lines as many as there is room for, or how many are in each state
/// and those that are least active in it.
void draw_socket_table(Canvas& canvas, const Box& box, const SocketLook& look, const Model& model);

}  // namespace idlewave::view
