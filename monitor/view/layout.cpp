#include "monitor/view/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "monitor/view/screen.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

constexpr Size kSmallest{20, 5};
constexpr int kFewestMapRows = 3;
constexpr int kSideFromColumns = 72;
constexpr int kMostSocketLines = 8;
constexpr int kMostLessonLines = 4;

/// Rows that each part takes; the map gets what is left.
struct Rows {
  int lesson = 0;
  int events = 0;
  int rule = 0;
  int step = 1;
  int keys = 1;
  int sockets = 0;  ///< Below the map; 0 where they stand beside it.
  int title = 1;
  int legend = 1;
  int axis = 1;
  int sum() const { return lesson + events + rule + step + keys + sockets + title + legend + axis; }
};

/// Takes parts away, the least important first, until `room` is left for the map.
void sacrifice(Rows& rows, int total, int room) {
  const auto fits = [&] { return rows.sum() + room <= total; };
  if (!fits()) rows.rule = 0;
  while (rows.events > 0 && !fits()) --rows.events;
  while (rows.lesson > 0 && !fits()) --rows.lesson;
  for (int* part : {&rows.step, &rows.keys}) {
    if (!fits()) *part = 0;
  }
  if (!fits() && rows.sockets > 1) rows.sockets = 1;
  for (int* part : {&rows.legend, &rows.title}) {
    if (!fits()) *part = 0;
  }
}

int digits(Rank rank) { return static_cast<int>(fmt::formatted_size("{}", std::max(rank, 0))); }

int side_columns(int columns) { return columns < kSideFromColumns ? 0 : std::clamp(columns * 36 / 100, 36, 58); }

int domains_of(const Model& model) { return static_cast<int>(model.timeline.domains().size()); }

int events_wished(Size size) { return size.rows >= 40 ? 5 : size.rows >= 30 ? 3 : size.rows >= 24 ? 1 : 0; }

Rows wished(const State& state, const Model& model, Size size) {
  Rows rows;
  const int most = state.focus == Panel::kLesson ? size.rows / 3 : size.rows >= 30 ? kMostLessonLines : 2;
  rows.lesson = std::min(static_cast<int>(lesson_lines(state, model, {size.columns - 2, most}).size()), most);
  rows.events = events_wished(size);
  rows.rule = size.rows >= 30 ? 1 : 0;
  const bool beside = side_columns(size.columns) > 0;
  rows.sockets = beside ? 0 : domains_of(model) <= kMostSocketLines ? std::max(domains_of(model), 1) : 1;
  return rows;
}

SocketForm roomiest(int sockets, int rows) {
  for (const SocketForm form : {SocketForm::kSpacious, SocketForm::kRoomy, SocketForm::kCompact}) {
    const int blank_after_last = form == SocketForm::kSpacious ? 1 : 0;
    if (sockets * lines_per_socket(form) - blank_after_last <= rows) return form;
  }
  return rows > 1 ? SocketForm::kLines : SocketForm::kSum;
}

void place_sockets_beside(Layout& layout, const Model& model, Size size, int body) {
  const int columns = side_columns(size.columns);
  layout.sockets = {size.columns - columns + 2, layout.map.y, columns - 3, body};
  layout.socket_form = roomiest(std::max(domains_of(model), 1), body);
}

/// Lines that the panel beside the map fills.
int panel_lines(const Layout& layout, const Model& model) {
  if (layout.sockets.empty()) return 0;
  return std::min(layout.sockets.height, std::max(domains_of(model), 1) * lines_per_socket(layout.socket_form));
}

/// Gives rows that neither the map nor the panel beside it fills to the events.
int spare_rows(const Layout& layout, const Model& model, int body) {
  const int used = std::max({static_cast<int>(layout.rows.lines.size()), panel_lines(layout, model), kFewestMapRows});
  return std::max(body - used, 0);
}

/// " (Fig. 4) ▸ i: inject; w: next wave" in at most `columns` columns, else the keys alone, or the first of them.
std::string ending_of(const LessonPage& page, int columns) {
  if (page.hint.empty()) return "";
  const std::string hint = " ▸ " + page.hint, first = hint.substr(0, hint.find(';'));
  const std::string figure = page.figure.empty() ? "" : " (" + page.figure + ")";
  for (const std::string& ending : {figure + hint, hint, first}) {
    if (columns_of(ending) <= columns) return ending;
  }
  return "";
}

/// Ends the last line with `ending`, at the cost of its own words.
std::vector<std::string> with_ending(std::vector<std::string> lines, const std::string& ending, int columns) {
  const int room = columns - columns_of(ending);
  std::string kept = lines.back();
  while (columns_of(kept) + 1 > room && kept.find(' ') != std::string::npos) kept.erase(kept.find_last_of(' '));
  lines.back() = shortened(kept, room - 1) + "…" + ending;
  return lines;
}

/// Everything below the map, from its first row.
void place_below(Layout& layout, const Rows& rows, int y, int columns) {
  const auto take = [&y](int count) { return count > 0 ? std::exchange(y, y + count) : kAbsent; };
  layout.axis = take(rows.axis);
  layout.legend = take(rows.legend);
  if (rows.sockets > 0) {
    layout.sockets = {1, take(rows.sockets), columns - 2, rows.sockets};
    layout.socket_form = rows.sockets > 1 ? SocketForm::kLines : SocketForm::kSum;
  }
  layout.rule = take(rows.rule);
  layout.step = take(rows.step);
  if (rows.events > 0) layout.events = {1, take(rows.events), columns - 2, rows.events};
  if (rows.lesson > 0) layout.lesson = {1, take(rows.lesson), columns - 2, rows.lesson};
  layout.keys = take(rows.keys);
}

}  // namespace

int lines_per_socket(SocketForm form) {
  switch (form) {
    case SocketForm::kSpacious: return 6;
    case SocketForm::kRoomy: return 5;
    case SocketForm::kCompact: return 4;
    case SocketForm::kLines: return 1;
    case SocketForm::kSum: break;
  }
  return 0;
}

bool Layout::shows(Panel panel) const {
  switch (panel) {
    case Panel::kMap: return true;
    case Panel::kSockets: return !sockets.empty();
    case Panel::kEvents: return !events.empty();
    case Panel::kLesson: return !lesson.empty();
  }
  return false;
}

std::vector<std::string> lesson_lines(const State& state, const Model& model, Size room) {
  if (!model.session.lesson || model.session.lesson->pages.empty() || room.rows <= 0) return {};
  const auto& pages = model.session.lesson->pages;
  const int last = static_cast<int>(pages.size()) - 1;
  const int index = std::clamp(state.lesson_page, 0, last);
  const LessonPage& page = pages[static_cast<std::size_t>(index)];
  const std::string text = fmt::format("LESSON {} of {} · {}", index + 1, last + 1, page.text);
  const std::string figure = page.figure.empty() ? "" : " (" + page.figure + ")";
  const std::string hint = page.hint.empty() ? "" : " " + unbroken("▸ " + page.hint);
  auto lines = wrapped(text + figure + hint, room.columns);
  if (static_cast<int>(lines.size()) <= room.rows) return lines;
  lines.resize(static_cast<std::size_t>(room.rows));
  return with_ending(std::move(lines), ending_of(page, room.columns * 2 / 3), room.columns);
}

Layout lay_out(const State& state, const Model& model, Size size, const Look& look) {
  Layout layout;
  layout.tiny = size.columns < kSmallest.columns || size.rows < kSmallest.rows;
  if (layout.tiny) return layout;
  Rows rows = wished(state, model, size);
  sacrifice(rows, size.rows, std::max(kFewestMapRows, size.rows / 2));
  const int labels = std::max(digits(model.timeline.ranks() - 1), 3) + 2;
  const int side = side_columns(size.columns);
  int body = size.rows - rows.sum();
  layout.title = rows.title > 0 ? 0 : kAbsent;
  layout.map = {labels, rows.title, size.columns - labels - (side > 0 ? side : 1), body};
  if (side > 0) place_sockets_beside(layout, model, size, body);
  const int halves = look.unicode && look.colours != ColourDepth::kNone ? 2 : 1;
  layout.rows = arrange_ranks(shown_segments(state, model.timeline), body, halves);
  const int spare = spare_rows(layout, model, body);
  rows.events += spare;
  body -= spare;
  layout.map.height = body;
  if (side > 0) layout.sockets.height = body + 1;
  layout.labels = {0, layout.map.y, labels, body};
  place_below(layout, rows, layout.map.y + body, size.columns);
  layout.window = time_window(state, shown_until(state, model), layout.map.width, look.cheap_scroll);
  return layout;
}

}  // namespace idlewave::view
