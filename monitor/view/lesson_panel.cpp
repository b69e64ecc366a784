#include "monitor/view/lesson_panel.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/layout.h"
#include "monitor/view/text.h"

namespace idlewave::view {

namespace {

constexpr PanelKey kKey = U'4';
constexpr int kMostLines = 4;
constexpr int kMostLinesBeside = 10;

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

int pages_of(const Model& model) {
  return model.session.lesson ? static_cast<int>(model.session.lesson->pages.size()) : 0;
}

/// The page as it stands on the screen: heading and text, then the key and the figure, which outlive the text's end.
std::vector<std::string> lines_of_page(const State& state, const Model& model, Size room) {
  const int pages = pages_of(model);
  if (pages == 0 || room.rows <= 0) return {};
  const int index = std::clamp(state.scrolled_by(kKey), 0, pages - 1);
  const LessonPage& page = model.session.lesson->pages[static_cast<std::size_t>(index)];
  const std::string text = fmt::format("LESSON {} of {} · {}", index + 1, pages, page.text);
  const std::string figure = page.figure.empty() ? "" : " (" + page.figure + ")";
  const std::string hint = page.hint.empty() ? "" : " " + unbroken("▸ " + page.hint);
  auto lines = wrapped(text + figure + hint, room.columns);
  if (static_cast<int>(lines.size()) <= room.rows) return lines;
  lines.resize(static_cast<std::size_t>(room.rows));
  return with_ending(std::move(lines), ending_of(page, room.columns * 2 / 3), room.columns);
}

/// Who reads it, and has the focus on it, gets more of it.
int wish(const State& state, const Model& model, const Room& room) {
  const int rows = room.size.rows;
  const int unasked = room.region == Region::kBeside ? kMostLinesBeside : rows >= 30 ? kMostLines : 2;
  const int most = std::min(state.focus == kKey ? std::max(rows / 3, unasked) : unasked, rows);
  return std::min(static_cast<int>(lines_of_page(state, model, {room.size.columns, most}).size()), most);
}

void draw(Canvas& canvas, const Layout& layout, const State& state, const Model& model, const Look&) {
  const Box box = layout.box_of(kKey);
  const auto lines = lines_of_page(state, model, {box.width, box.height});
  Ink ink = Ink::kLesson;
  for (int i = 0; i < static_cast<int>(lines.size()); ++i) {
    std::string_view rest = lines[static_cast<std::size_t>(i)];
    for (int x = box.x; !rest.empty(); ++x) {
      const char32_t glyph = take_code_point(rest);
      if (glyph == U'▸') ink = Ink::kKeyHint;
      canvas.put(x, box.y + i, {.glyph = glyph, .fg = ink, .bold = ink == Ink::kKeyHint});
    }
  }
}

}  // namespace

void turn_page(State& state, const Model& model, int pages) {
  if (pages_of(model) == 0) return;
  state.scrolled[kKey] = std::clamp(state.scrolled_by(kKey) + pages, 0, pages_of(model) - 1);
}

Panel lesson_panel() {
  return {.key = kKey,
          .name = "lesson",
          .region = Region::kBottom,
          .region_if_wide = Region::kBottom,
          .takes_spare_rows = false,
          .wish = wish,
          .draw = draw,
          .scroll = turn_page,
          .beside_if_room = true};
}

}  // namespace idlewave::view
