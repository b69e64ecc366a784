#pragma once
// What goes where, and what is left out as the screen shrinks.

#include <optional>
#include <span>
#include <vector>

#include "monitor/view/layout/panel.h"
#include "monitor/view/layout/rank_rows.h"
#include "monitor/view/layout/step_window.h"
#include "monitor/view/layout/time_window.h"
#include "monitor/view/look.h"
#include "monitor/view/model.h"
#include "monitor/view/paint/canvas.h"
#include "monitor/view/state.h"

namespace idlewave::view::layout {

struct Box {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  bool empty() const { return width <= 0 || height <= 0; }
  bool holds(int px, int py) const { return px >= x && py >= y && px < x + width && py < y + height; }
  friend bool operator==(const Box&, const Box&) = default;
};

/// A panel that is on the screen.
struct Placed {
  PanelKey panel = kMapKey;
  Region region = Region::kMap;
  Box box;
};

inline constexpr int kAbsent = -1;

struct Layout {
  bool tiny = false;    ///< Below 20x5: one line of text, nothing else is set.
  int title = kAbsent;  ///< Rows.
  int axis = kAbsent;
  int legend = kAbsent;
  int rule = kAbsent;
  int step = kAbsent;
  int keys = kAbsent;
  Box labels;  ///< Rank axis, left of the map.
  Box map;     ///< Cells alone.
  Box beside;  ///< The column right of the map; empty if there is none.
  std::vector<Placed> placed;
  RankRows rows;
  TimeWindow window;
  std::optional<StepWindow> steps;  ///< Where the map's columns are steps; then `window` does not hold.

  bool shows(PanelKey panel) const;
  Box box_of(PanelKey panel) const;        ///< Of one that is shown.
  Region region_of(PanelKey panel) const;  ///< Of one that is shown.
};

/// `panels` in the order of their rows, the map first.
Layout lay_out(std::span<const Panel> panels, const State& state, const Model& model, paint::Size size,
               const Look& look);

}  // namespace idlewave::view::layout
