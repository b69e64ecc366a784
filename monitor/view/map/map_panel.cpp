#include "monitor/view/map/map_panel.h"

#include <algorithm>

#include "monitor/view/layout/layout.h"
#include "monitor/view/layout/movement.h"
#include "monitor/view/map/heat_map.h"
#include "monitor/view/map/map_axes.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::map {

namespace {

void draw_waiting(paint::Canvas& canvas, const layout::Box& map, const SessionInfo& session) {
  std::string words = "no event yet";
  if (!session.link_detail.empty()) words += ": " + session.link_detail;
  const auto lines = paint::wrapped(words, std::max(map.width - 2, 1));
  const int shown = std::min(static_cast<int>(lines.size()), map.height);
  for (int i = 0; i < shown; ++i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    canvas.text(map.x + (map.width - paint::columns_of(line)) / 2, map.y + (map.height - shown) / 2 + i, line,
                paint::Ink::kDim);
  }
}

void draw(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
          const Look& look) {
  draw_heat_map(canvas, layout, state, model, look);
  draw_rank_axis(canvas, layout, state);
  draw_time_axis(canvas, layout, state, model);
  draw_legend(canvas, layout, state, model, look);
  if (model.timeline.empty()) draw_waiting(canvas, layout.map, model.session);
}

}  // namespace

layout::Panel map_panel() {
  return {.key = kMapKey,
          .name = "map",
          .region = layout::Region::kMap,
          .region_if_wide = layout::Region::kMap,
          .takes_spare_rows = false,
          .wish = nullptr,
          .draw = draw,
          .scroll = layout::move_in_ranks};
}

}  // namespace idlewave::view::map
