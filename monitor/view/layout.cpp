#include "monitor/view/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace idlewave::view {

namespace {

constexpr Size kSmallest{20, 5};
constexpr int kFewestMapRows = 3;
constexpr int kSideFromColumns = 72;

int side_columns(int columns) { return columns < kSideFromColumns ? 0 : std::clamp(columns * 36 / 100, 36, 58); }

Region region_on(const Panel& panel, Size screen) {
  return side_columns(screen.columns) > 0 ? panel.region_if_wide : panel.region;
}

/// A panel that takes whole rows, above or below the line about steps.
struct Strip {
  const Panel& panel;
  Region region;
  int rows = 0;
};

/// Rows that each part takes; the map gets what is left.
struct Rows {
  std::vector<Strip> strips;
  int rule = 0;
  int step = 1;
  int keys = 1;
  int title = 1;
  int legend = 1;
  int axis = 1;

  int sum() const {
    const auto add = [](int sum, const Strip& strip) { return sum + strip.rows; };
    return std::accumulate(strips.begin(), strips.end(), rule + step + keys + title + legend + axis, add);
  }
};

/// Takes parts away, the least important first, until `room` is left for the map.
void sacrifice(Rows& rows, int total, int room) {
  const auto fits = [&] { return rows.sum() + room <= total; };
  if (!fits()) rows.rule = 0;
  for (Strip& strip : rows.strips) {
    while (strip.region == Region::kBottom && strip.rows > 0 && !fits()) --strip.rows;
  }
  for (int* part : {&rows.step, &rows.keys}) {
    if (!fits()) *part = 0;
  }
  for (Strip& strip : rows.strips) {
    if (strip.region == Region::kUnder && !fits()) strip.rows = std::min(strip.rows, 1);
  }
  for (int* part : {&rows.legend, &rows.title}) {
    if (!fits()) *part = 0;
  }
}

int digits(Rank rank) { return static_cast<int>(fmt::formatted_size("{}", std::max(rank, 0))); }

Rows wished(std::span<const Panel> panels, const State& state, const Model& model, Size size) {
  Rows rows;
  rows.rule = size.rows >= 30 ? 1 : 0;
  for (const Panel& panel : panels) {
    const Region region = region_on(panel, size);
    if (region != Region::kUnder && region != Region::kBottom) continue;
    rows.strips.push_back({panel, region, panel.wish(state, model, {region, {size.columns - 2, size.rows}})});
  }
  return rows;
}

/// Puts the panels beside the map below each other into their column; the last one gets what is left of it. Returns the
/// rows that they would fill.
int place_beside(Layout& layout, std::span<const Panel> panels, const State& state, const Model& model) {
  Box rest = layout.beside;
  int filled = 0;
  for (const Panel& panel : panels) {
    if (panel.region_if_wide != Region::kBeside || rest.empty()) continue;
    const int wished = panel.wish(state, model, {Region::kBeside, {rest.width, rest.height}});
    const int rows = std::min(wished, rest.height);
    if (rows == 0) continue;
    layout.placed.push_back({panel.key, Region::kBeside, {rest.x, rest.y, rest.width, rows}});
    filled += rows;
    rest.y += rows;
    rest.height -= rows;
  }
  if (filled > 0) layout.placed.back().box.height += rest.height;
  return filled;
}

/// Gives rows that would stay empty to the panel that takes them. Returns how many it took.
int give_spare(Rows& rows, int spare) {
  const auto takes = [](const Strip& strip) { return strip.panel.takes_spare_rows; };
  const auto taker = std::find_if(rows.strips.begin(), rows.strips.end(), takes);
  if (spare <= 0 || taker == rows.strips.end()) return 0;
  taker->rows += spare;
  return spare;
}

/// Shortens the map to `rows`, and what stands beside it and its axis.
void end_at(Layout& layout, int rows) {
  const int less = layout.map.height - rows;
  layout.map.height -= less;
  layout.beside.height -= less;
  if (!layout.placed.empty()) layout.placed.back().box.height -= less;
}

/// Everything below the map, from its first row.
void place_below(Layout& layout, const Rows& rows, int y, int columns) {
  const auto take = [&y](int count) { return count > 0 ? std::exchange(y, y + count) : kAbsent; };
  const auto place = [&](Region wanted) {
    for (const Strip& strip : rows.strips) {
      if (strip.region != wanted || strip.rows == 0) continue;
      layout.placed.push_back({strip.panel.key, wanted, {1, take(strip.rows), columns - 2, strip.rows}});
    }
  };
  layout.axis = take(rows.axis);
  layout.legend = take(rows.legend);
  place(Region::kUnder);
  layout.rule = take(rows.rule);
  layout.step = take(rows.step);
  place(Region::kBottom);
  layout.keys = take(rows.keys);
}

const Placed* find(const Layout& layout, PanelKey panel) {
  const auto is_it = [panel](const Placed& placed) { return placed.panel == panel; };
  const auto found = std::find_if(layout.placed.begin(), layout.placed.end(), is_it);
  return found == layout.placed.end() ? nullptr : &*found;
}

}  // namespace

Layout lay_out(std::span<const Panel> panels, const State& state, const Model& model, Size size, const Look& look) {
  Layout layout;
  layout.tiny = size.columns < kSmallest.columns || size.rows < kSmallest.rows;
  if (layout.tiny) return layout;
  Rows rows = wished(panels, state, model, size);
  sacrifice(rows, size.rows, std::max(kFewestMapRows, size.rows / 2));
  const int labels = std::max(digits(model.timeline.ranks() - 1), 3) + 2;
  const int side = side_columns(size.columns);
  int body = size.rows - rows.sum();
  layout.title = rows.title > 0 ? 0 : kAbsent;
  layout.map = {labels, rows.title, size.columns - labels - (side > 0 ? side : 1), body};
  const int halves = look.unicode && look.colours != ColourDepth::kNone ? 2 : 1;
  layout.rows = arrange_ranks(shown_segments(state, model.timeline), body, halves);
  if (side > 0) layout.beside = {size.columns - side + 2, layout.map.y, side - 3, body + 1};
  const int filled = place_beside(layout, panels, state, model);
  body -= give_spare(rows, body - std::max({static_cast<int>(layout.rows.lines.size()), filled, kFewestMapRows}));
  end_at(layout, body);
  layout.labels = {0, layout.map.y, labels, body};
  layout.placed.push_back({kMapKey, Region::kMap, layout.map});
  place_below(layout, rows, layout.map.y + body, size.columns);
  layout.window = time_window(state, shown_until(state, model), layout.map.width, look.cheap_scroll);
  return layout;
}

bool Layout::shows(PanelKey panel) const { return find(*this, panel) != nullptr; }

Box Layout::box_of(PanelKey panel) const {
  assert(shows(panel));
  return find(*this, panel)->box;
}

Region Layout::region_of(PanelKey panel) const {
  assert(shows(panel));
  return find(*this, panel)->region;
}

}  // namespace idlewave::view
