#pragma once
// What a panel is: a part of the screen that has a key, a place, and something to scroll. Each stands in a file of its
// own and in the table (panels.h). The layout asks for their wishes and knows none of them.

#include <string_view>

#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::layout {

struct Layout;

enum class Region : std::uint8_t {
  kMap,     ///< Gets what the others leave.
  kBeside,  ///< Right of the map and of its time axis.
  kUnder,   ///< Below the map's legend; a low screen leaves one row of it.
  kBottom,  ///< Above the keys; a low screen leaves nothing of it, in the order of the table.
};

/// What is offered to a panel: its width, and the height of the column beside the map, or of the whole screen.
struct Room {
  Region region = Region::kBottom;
  paint::Size size;
};

struct Panel {
  PanelKey key;           ///< Brings the focus to it; no other panel has it.
  std::string_view name;  ///< "events"
  Region region;
  Region region_if_wide;  ///< On a screen that is wide enough for a column beside the map.
  bool takes_spare_rows;  ///< Those that neither the map nor what stands beside it fills.
  /// Rows that it would fill; 0: it is not there. Null for the map, which is not asked.
  int (*wish)(const State&, const Model&, const Room&);
  /// Into the box that the layout has for it; called if there is one.
  void (*draw)(paint::Canvas&, const Layout&, const State&, const Model&, const Look&);
  /// Down by so many lines (negative: up), as far as there are any.
  void (*scroll)(State&, const Model&, int lines);
  /// On a wide screen whose column beside the map has much room left it stands there, so that the map gets the rows.
  bool beside_if_room = false;
  /// Rows that it could fill beside the map, where others leave them; null: no more than it wishes.
  int (*most)(const Model&) = nullptr;
};

}  // namespace idlewave::view::layout
