#include "monitor/view/panels/events_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/layout/layout.h"
#include "monitor/view/layout/moment.h"
#include "monitor/view/map/noises.h"
#include "monitor/view/paint/figures.h"
#include "monitor/view/paint/text.h"
#include "monitor/view/panels/lesson_page.h"

namespace idlewave::view::panels {

namespace {

using paint::Ink;

constexpr PanelKey kEventsKey = U'3';

constexpr int kRowsBeside = 6;
constexpr int kTimeColumns = 9;

struct Entry {
  Nanoseconds at{};
  std::string text;
  Ink ink = Ink::kText;
};

Ink ink_of(const analysis::session::Remark& remark) {
  switch (remark.kind) {
    case analysis::session::Remark::Kind::kDelay: return Ink::kDelay;
    case analysis::session::Remark::Kind::kLoss: return Ink::kWarning;
    case analysis::session::Remark::Kind::kRank: return Ink::kError;
    default: return Ink::kText;
  }
}

/// Remarks and orders of noise, in the order of time.
std::vector<Entry> entries(const Model& model) {
  std::vector<Entry> out;
  for (const analysis::session::Remark& remark : model.remarks) out.push_back({remark.at, remark.text, ink_of(remark)});
  for (const map::Noise& noise : map::noises(model.timeline)) {
    out.push_back({noise.from, noise.words + " began", Ink::kDelay});
    if (noise.to != Nanoseconds::max()) out.push_back({noise.to, noise.words + " is over", Ink::kDelay});
  }
  std::stable_sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) { return a.at < b.at; });
  return out;
}

int rows_below(paint::Size screen) { return screen.rows >= 40 ? 5 : screen.rows >= 30 ? 3 : screen.rows >= 24 ? 1 : 0; }

int wish_for_events(const State& state, const Model& model, const layout::Room& room) {
  if (room.region == layout::Region::kBeside) return std::min(kRowsBeside, room.size.rows);
  const int rows = rows_below(room.size);
  return give_row_to_lesson(state, model, room.size) ? rows - 1 : rows;
}

std::vector<std::string> lines_of(const Entry& entry, int columns) {
  return paint::wrapped(entry.text, std::max(columns - kTimeColumns - 2, 1));
}

/// First of the entries before `end` that fit.
int first_fitting(const std::vector<Entry>& all, int end, const layout::Box& box, bool wraps) {
  int rows = 0, first = end;
  while (first > 0) {
    rows += wraps ? static_cast<int>(lines_of(all[static_cast<std::size_t>(first) - 1], box.width).size()) : 1;
    if (rows > box.height && first < end) break;
    --first;
    if (rows >= box.height) break;
  }
  return first;
}

/// State::scrolled counts entries back from the newest that belongs to the moment shown.
void draw_events(paint::Canvas& canvas, const layout::Layout& layout, const State& state, const Model& model,
                 const Look&) {
  const layout::Box box = layout.box_of(kEventsKey);
  const bool wraps = layout.region_of(kEventsKey) == layout::Region::kBeside;
  const std::vector<Entry> all = entries(model);
  const Nanoseconds until = layout::told_until(state, model, layout);
  const auto later = std::partition_point(all.begin(), all.end(), [until](const Entry& e) { return e.at <= until; });
  const int count = static_cast<int>(later - all.begin());
  const int end = std::max(count - state.scrolled_by(kEventsKey), std::min(count, 1));
  const int newer = static_cast<int>(all.size()) - end;
  const std::string note = newer > 0 ? fmt::format(" {} newer", newer) : "";
  int y = box.y;
  for (int i = first_fitting(all, end, box, wraps); i < end; ++i) {
    const Entry& entry = all[static_cast<std::size_t>(i)];
    const std::string at = paint::to_moment(entry.at, std::chrono::milliseconds(10));
    canvas.text(box.x, y, fmt::format("{:>{}}", at, kTimeColumns), Ink::kDim, Ink::kDefault, false, box.width);
    const int x = box.x + std::max(paint::columns_of(at), kTimeColumns) + 2;
    const auto lines = wraps ? lines_of(entry, box.width) : std::vector{entry.text};
    for (std::size_t line = 0; line < lines.size() && y < box.y + box.height; ++line, ++y)
      canvas.text(x, y, paint::shortened(lines[line], box.x + box.width - x), entry.ink);
  }
  const int x = box.x + box.width - paint::columns_of(note);
  if (!note.empty() && x >= box.x) canvas.text(x, box.y + box.height - 1, note, Ink::kWarning, Ink::kDefault, true);
}

void scroll_events(State& state, const Model& model, int lines) {
  const int oldest = std::max(static_cast<int>(entries(model).size()) - 1, 0);
  state.scrolled[kEventsKey] = std::clamp(state.scrolled_by(kEventsKey) - lines, 0, oldest);
}

}  // namespace

bool give_row_to_lesson(const State& state, const Model& model, paint::Size room) {
  const auto& lesson = model.session.lesson;
  const bool something_else_is_read = state.focus != kMapKey && state.focus != kLessonKey;
  return rows_below(room) == 1 && lesson && !something_else_is_read && says_more_than_a_line(*lesson, room.columns);
}

layout::Panel events_panel() {
  return {.key = kEventsKey,
          .name = "events",
          .region = layout::Region::kBottom,
          .region_if_wide = layout::Region::kBottom,
          .takes_spare_rows = true,
          .wish = wish_for_events,
          .draw = draw_events,
          .scroll = scroll_events,
          .beside_if_room = true};
}

}  // namespace idlewave::view::panels
