#include "monitor/view/panels.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "monitor/view/events_panel.h"
#include "monitor/view/functions_panel.h"
#include "monitor/view/lesson_panel.h"
#include "monitor/view/map_panel.h"
#include "monitor/view/messages_panel.h"
#include "monitor/view/ranks_panel.h"
#include "monitor/view/sockets_panel.h"

namespace idlewave::view {

std::span<const Panel> panels() {
  static const std::array kTable = {
      map_panel(), sockets_panel(), events_panel(), ranks_panel(), lesson_panel(), functions_panel(), messages_panel(),
  };
  return kTable;
}

const Panel& panel_of(PanelKey key) {
  const auto all = panels();
  const auto found = std::find_if(all.begin(), all.end(), [key](const Panel& panel) { return panel.key == key; });
  assert(found != all.end());
  return *found;
}

}  // namespace idlewave::view
