#include "monitor/view/panels/panels.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "monitor/view/map/map_panel.h"
#include "monitor/view/panels/events_panel.h"
#include "monitor/view/panels/functions_panel.h"
#include "monitor/view/panels/lesson_panel.h"
#include "monitor/view/panels/messages_panel.h"
#include "monitor/view/panels/ranks_panel.h"
#include "monitor/view/panels/sockets_panel.h"

namespace idlewave::view::panels {

std::span<const layout::Panel> all_panels() {
  static const std::array kTable = {
      map::map_panel(), sockets_panel(),   events_panel(),   ranks_panel(),
      lesson_panel(),   functions_panel(), messages_panel(),
  };
  return kTable;
}

const layout::Panel& panel_of(PanelKey key) {
  const auto all = all_panels();
  const auto found =
      std::find_if(all.begin(), all.end(), [key](const layout::Panel& panel) { return panel.key == key; });
  assert(found != all.end());
  return *found;
}

}  // namespace idlewave::view::panels
