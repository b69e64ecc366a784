#include "monitor/view/map_panel.h"

#include <algorithm>

#include "monitor/view/heat_map.h"
#include "monitor/view/layout.h"
#include "monitor/view/map_axes.h"
#include "monitor/view/movement.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

void draw_waiting(Canvas& canvas, const Box& map, const SessionInfo& session) {
  std::string words = "no event yet";
  if (!session.link_detail.empty()) words += ": " + session.link_detail;
  const auto lines = wrapped(words, std::max(map.width - 2, 1));
  const int shown = std::min(static_cast<int>(lines.size()), map.height);
  for (int i = 0; i < shown; ++i) {
    const std::string& line = lines[static_cast<std::size_t>(i)];
    canvas.text(map.x + (map.width - columns_of(line)) / 2, map.y + (map.height - shown) / 2 + i, line, Ink::kDim);
  }
}

void draw(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look& look) {
  draw_heat_map(canvas, layout, state, model, look);
  draw_rank_axis(canvas, layout, state);
  draw_time_axis(canvas, layout, state, model);
  draw_legend(canvas, layout, state, model, look);
  if (model.timeline.empty()) draw_waiting(canvas, layout.map, model.session);
}

}  // namespace

Panel map_panel() {
  return {.key = kMapKey,
          .name = "map",
          .region = Region::kMap,
          .region_if_wide = Region::kMap,
          .takes_spare_rows = false,
          .wish = nullptr,
          .draw = draw,
          .scroll = move_in_ranks};
}

}  // namespace idlewave::view
