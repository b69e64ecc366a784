#include "monitor/view/layout/layout.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

namespace idlewave::view::layout {

namespace {

constexpr paint::Size kSmallest{20, 5};
constexpr int kFewestMapRows = 3;
constexpr int kSideFromColumns = 72;
constexpr int kFrameBeside = 3;

/// Of a screen on which the map has columns enough, a part of what comes more.
int side_columns(int columns) {
  constexpr int kMost = 58, kWide = 200;
  return columns < kSideFromColumns ? 0 : std::clamp(columns * 36 / 100, 36, kMost) + std::max(columns - kWide, 0) / 5;
}

/// What is left beside the map of a high screen, so that panels move there from below it.
constexpr int kMuchRoomBeside = 14;

/// What its ranks leave empty of the map, so that the panel that takes spare rows stays below it.
constexpr int kMuchRoomBelow = 6;

/// Where a high screen has more room than its ranks and sockets fill.
struct MuchRoom {
  bool beside = false;
  bool below = false;
};

Region region_on(const Panel& panel, paint::Size screen, MuchRoom much_room) {
  if (side_columns(screen.columns) == 0) return panel.region;
  const bool moves = much_room.beside && panel.beside_if_room && !(much_room.below && panel.takes_spare_rows);
  return moves ? Region::kBeside : panel.region_if_wide;
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

int digits(Rank rank) { return static_cast<int>(std::to_string(std::max(rank, 0)).size()); }

/// Whether a map that has all rows but those of the lines around it leaves much room beside it.
bool has_much_room_beside(std::span<const Panel> panels, const State& state, const Model& model, paint::Size size) {
  const int side = side_columns(size.columns);
  int rest = size.rows - Rows{}.sum() + 1;
  for (const Panel& panel : panels) {
    if (panel.region_if_wide == Region::kBeside)
      rest -= panel.wish(state, model, {Region::kBeside, {side - kFrameBeside, rest}});
  }
  return side > 0 && rest >= kMuchRoomBeside;
}

Rows wished(std::span<const Panel> panels, const State& state, const Model& model, paint::Size size,
            MuchRoom much_room) {
  Rows rows;
  rows.rule = size.rows >= 30 && (!much_room.beside || much_room.below) ? 1 : 0;
  for (const Panel& panel : panels) {
    const Region region = region_on(panel, size, much_room);
    if (region != Region::kUnder && region != Region::kBottom) continue;
    rows.strips.push_back({panel, region, panel.wish(state, model, {region, {size.columns - 2, size.rows}})});
  }
  return rows;
}

bool takes_spare(const Panel* panel) { return panel->takes_spare_rows; }

int sum(std::span<const int> rows) { return std::accumulate(rows.begin(), rows.end(), 0); }

/// Rows of the column beside the map that each of its panels wishes, the first ones first.
std::vector<int> wished_beside(const Layout& layout, std::span<const Panel* const> panels, const State& state,
                               const Model& model) {
  std::vector<int> heights;
  int rest = layout.beside.height;
  for (const Panel* panel : panels) {
    const int wished = panel->wish(state, model, {Region::kBeside, {layout.beside.width, rest}});
    heights.push_back(std::clamp(wished, 0, rest));
    rest -= heights.back();
  }
  return heights;
}

/// Shares out the rows of which nobody has wished: to those that could fill more, but no more than half where there is one
/// that takes spare rows; the others to that one, else to the last.
void share_rest(std::vector<int>& heights, std::span<const Panel* const> panels, const Model& model, int rest) {
  int for_more = std::ranges::any_of(panels, takes_spare) ? rest / 2 : rest;
  std::size_t taker = 0;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (heights[i] == 0) continue;
    if (!takes_spare(panels[taker])) taker = i;
    if (panels[i]->most == nullptr) continue;
    const int more = std::clamp(panels[i]->most(model) - heights[i], 0, for_more);
    heights[i] += more;
    for_more -= more;
    rest -= more;
  }
  heights[taker] += rest;
}

/// Puts panels below each other into the column beside the map.
void place_beside(Layout& layout, std::span<const Panel* const> panels, const State& state, const Model& model) {
  std::vector<int> heights = wished_beside(layout, panels, state, model);
  if (sum(heights) > 0) share_rest(heights, panels, model, layout.beside.height - sum(heights));
  int y = layout.beside.y;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    if (heights[i] == 0) continue;
    layout.placed.push_back({panels[i]->key, Region::kBeside, {layout.beside.x, y, layout.beside.width, heights[i]}});
    y += heights[i];
  }
}

/// Gives rows that would stay empty to the panel that takes them. Returns how many it took.
int give_spare(Rows& rows, int spare) {
  const auto takes = [](const Strip& strip) { return strip.panel.takes_spare_rows; };
  const auto taker = std::find_if(rows.strips.begin(), rows.strips.end(), takes);
  if (spare <= 0 || taker == rows.strips.end()) return 0;
  taker->rows += spare;
  return spare;
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

/// Threads know no steps, and the model none of them.
RankRows arrange(const State& state, const Model& model, int rows, int halves) {
  const std::vector<RankSegment> segments = shown_segments(state, model.timeline);
  if (state.threads && !state.by_steps && !state.ghost)
    if (auto unfolded = arrange_threads(state, model.timeline, segments, rows)) return std::move(*unfolded);
  return arrange_ranks(segments, rows, halves);
}

Rows fitting_rows(std::span<const Panel> panels, const State& state, const Model& model, paint::Size size,
                  MuchRoom much_room) {
  Rows rows = wished(panels, state, model, size, much_room);
  sacrifice(rows, size.rows, std::max(kFewestMapRows, size.rows / 2));
  return rows;
}

/// The map and the column beside it, as high as `rows` leave room for.
void arrange_map(Layout& layout, const Rows& rows, const State& state, const Model& model, paint::Size size,
                 const Look& look) {
  const int labels = std::max(digits(model.timeline.ranks() - 1), 3) + 2;
  const int side = side_columns(size.columns), body = size.rows - rows.sum();
  layout.title = rows.title > 0 ? 0 : kAbsent;
  layout.map = {labels, rows.title, size.columns - labels - (side > 0 ? side : 1), body};
  if (side > 0) layout.beside = {size.columns - side + 2, layout.map.y, side - kFrameBeside, body + 1};
  const int halves = look.unicode && look.colours != ColourDepth::kNone ? 2 : 1;
  layout.rows = arrange(state, model, body, halves);
}

std::vector<const Panel*> beside_map(std::span<const Panel> panels, paint::Size size, MuchRoom much_room) {
  std::vector<const Panel*> beside;
  for (const Panel& panel : panels)
    if (side_columns(size.columns) > 0 && region_on(panel, size, much_room) == Region::kBeside)
      beside.push_back(&panel);
  return beside;
}

/// Map and column give rows that both leave empty to a strip of `rows`. A map that waits for its ranks keeps the room that
/// they will need.
void shorten_map(Layout& layout, Rows& rows, std::span<const Panel* const> beside, const State& state,
                 const Model& model) {
  const int lines = static_cast<int>(layout.rows.lines.size());
  if (lines == 0) return;
  const int filled = sum(wished_beside(layout, beside, state, model));
  const int less = give_spare(rows, layout.map.height - std::max({lines, filled - 1, kFewestMapRows}));
  layout.map.height -= less;
  layout.beside.height -= less;
}

const Placed* find(const Layout& layout, PanelKey panel) {
  const auto is_it = [panel](const Placed& placed) { return placed.panel == panel; };
  const auto found = std::find_if(layout.placed.begin(), layout.placed.end(), is_it);
  return found == layout.placed.end() ? nullptr : &*found;
}

}  // namespace

Layout lay_out(std::span<const Panel> panels, const State& state, const Model& model, paint::Size size,
               const Look& look) {
  Layout layout;
  layout.tiny = size.columns < kSmallest.columns || size.rows < kSmallest.rows;
  if (layout.tiny) return layout;
  MuchRoom much_room{.beside = has_much_room_beside(panels, state, model, size)};
  Rows rows = fitting_rows(panels, state, model, size, much_room);
  arrange_map(layout, rows, state, model, size, look);
  const int empty = layout.map.height - std::max(static_cast<int>(layout.rows.lines.size()), kFewestMapRows);
  if (much_room.beside && !layout.rows.lines.empty() && empty >= kMuchRoomBelow) {
    much_room.below = true;
    rows = fitting_rows(panels, state, model, size, much_room);
    arrange_map(layout, rows, state, model, size, look);
  }
  const std::vector<const Panel*> beside = beside_map(panels, size, much_room);
  shorten_map(layout, rows, beside, state, model);
  place_beside(layout, beside, state, model);
  layout.labels = {0, layout.map.y, layout.map.x, layout.map.height};
  layout.placed.push_back({kMapKey, Region::kMap, layout.map});
  place_below(layout, rows, layout.map.y + layout.map.height, size.columns);
  const SessionTime time = session_time(state, model);
  const bool smooth = look.cheap_scroll || time.is_over;
  layout.window = time_window(state, time, layout.map.width, smooth);
  if (state.by_steps)
    layout.steps = step_window(state, latest_step_at(model.timeline, time.edge), layout.map.width, smooth);
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

}  // namespace idlewave::view::layout
