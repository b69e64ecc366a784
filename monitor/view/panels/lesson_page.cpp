#include "monitor/view/panels/lesson_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "monitor/view/paint/pieces.h"
#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {

namespace {

using paint::Ink;

/// "Enter answers · Backspace back · L all of it", or shorter.
std::string keys_in_words(const Lesson& lesson, int columns, bool covers) {
  const std::string on = !lesson.expected.empty() ? "Enter answer" : lesson.has_next ? "Enter next page" : "";
  const std::string back = lesson.has_previous ? "Backspace back" : "";
  const std::string all = covers ? "↑↓ · Esc closes" : "L all of it";
  const auto joined = [](const std::vector<std::string>& parts) {
    std::string line;
    for (const std::string& part : parts) {
      if (!part.empty()) line += (line.empty() ? "" : " · ") + part;
    }
    return line;
  };
  const std::string short_on = on.empty() ? "" : "Enter";
  const std::string short_back = back.empty() ? "" : "Bksp";
  const std::string short_all = covers ? "↑↓ Esc" : "L";
  return paint::longest_fitting(
      {joined({on, back, all}), joined({on, back, short_all}), joined({short_on, short_back, short_all})}, columns);
}

std::string heading(const Lesson& lesson) { return fmt::format("LESSON {} of {} · ", lesson.page, lesson.pages); }

void append(std::vector<LessonLine>& lines, const std::string& paragraph, int columns, Ink ink, bool bold = false) {
  if (paragraph.empty()) return;
  for (std::string& line : paint::wrapped(paragraph, std::max(columns, 1)))
    lines.push_back({std::move(line), ink, bold});
}

/// What the moment asks for; of what was measured a table with the verdict above it, where there is room for that.
void append_found(std::vector<LessonLine>& lines, const Lesson& lesson, int columns, bool bold) {
  const std::vector<LessonLine> figures = figure_lines(lesson, columns);
  append(lines, figures.empty() ? lesson.now : lesson.verdict, columns, Ink::kStrong, bold);
  lines.insert(lines.end(), figures.begin(), figures.end());
}

/// At most `rows` of them; the last ends with "…" where some are left out.
void cut(std::vector<LessonLine>& lines, int rows, int columns) {
  if (static_cast<int>(lines.size()) <= rows) return;
  lines.resize(static_cast<std::size_t>(std::max(rows, 0)));
  if (lines.empty()) return;
  std::string& last = lines.back().text;
  last = paint::shortened(last, std::max(columns - 1, 1));
  if (!last.ends_with("…")) last += "…";
}

std::vector<LessonLine> all_lines(const Lesson& lesson, int columns) {
  std::vector<LessonLine> lines;
  append(lines, fmt::format("LESSON {} of {} · {}", lesson.page, lesson.pages, lesson.title), columns, Ink::kTitle,
         true);
  append(lines, lesson.text, columns, Ink::kLesson);
  if (!lesson.now.empty()) lines.push_back({});
  append_found(lines, lesson, columns, true);
  if (lesson.now.find(lesson.premise) == std::string::npos) append(lines, lesson.premise, columns, Ink::kWarning);
  lines.push_back({});
  append(lines, lesson.figure, columns, Ink::kDim);
  append(lines, lesson.source, columns, Ink::kDim);
  return lines;
}

/// The first line that may stand at the top.
int last_line(const Lesson& lesson, paint::Size size) {
  const auto lines = all_lines(lesson, size.columns - 2);
  return std::max(static_cast<int>(lines.size()) - std::max(size.rows - 1, 1), 0);
}

/// The label of the axis that would go on where something else begins: a number without its end is another one.
void erase_cut_label(paint::Canvas& canvas, const layout::Layout& layout, int end) {
  const auto is_blank = [&](int x) { return canvas.at(x, layout.axis).glyph == U' '; };
  int begin = end - 1;
  while (begin >= layout.map.x && canvas.at(begin, layout.axis).glyph != U'╵') {
    if (is_blank(begin) && is_blank(begin + 1)) return;
    --begin;
  }
  const int next = is_blank(end) && end + 1 < canvas.size().columns ? end + 1 : end;
  const char32_t glyph = canvas.at(next, layout.axis).glyph;
  if (begin < layout.map.x || glyph == U' ' || glyph == U'╵') return;
  for (int x = begin; x < end; ++x) canvas.put(x, layout.axis, paint::Cell{});
}

}  // namespace

std::vector<LessonLine> lesson_lines(const Lesson& lesson, paint::Size room) {
  if (room.rows <= 0) return {};
  const int columns = room.columns;
  const int rest = room.rows - 1;
  const std::string figure = lesson.figure.empty() ? "" : " (" + lesson.figure + ")";
  std::vector<LessonLine> now, text;
  append_found(now, lesson, columns, false);
  append(text, heading(lesson) + lesson.text + figure, columns, Ink::kLesson);
  const bool fits = int(text.size() + now.size()) <= rest;
  const bool only_now = !lesson.now.empty() && (rest == 1 || (rest == 2 && !fits));
  // A part of a table says less than the sentences.
  if (only_now || int(now.size()) >= rest) {
    now.clear();
    append(now, (only_now ? heading(lesson) : "") + lesson.now, columns, Ink::kStrong);
  }
  // Else one line of the text stays, as it says which page this is.
  cut(now, only_now ? rest : std::max(rest - 1, 0), columns);
  cut(text, rest - static_cast<int>(now.size()), columns);
  text.insert(text.end(), now.begin(), now.end());
  std::string keys = keys_in_words(lesson, columns, false);
  if (rest == 0) keys = paint::longest_fitting({heading(lesson) + keys, keys}, columns);
  if (rest == 1 || only_now) keys = paint::longest_fitting({keys + figure, keys}, columns);
  text.push_back({std::move(keys), Ink::kKeyHint, true});
  return text;
}

bool says_more_than_a_line(const Lesson& lesson, int columns) {
  const bool asks_or_tells = lesson.asks || !lesson.verdict.empty();
  return asks_or_tells && paint::columns_of(heading(lesson) + lesson.now) > columns;
}

void scroll_lesson(State& state, const Model& model, paint::Size size, int lines) {
  if (!model.session.lesson) return;
  state.scrolled[kLessonKey] =
      std::clamp(state.scrolled_by(kLessonKey) + lines, 0, last_line(*model.session.lesson, size));
}

void draw_lesson_page(paint::Canvas& canvas, const State& state, const Model& model) {
  const Lesson& lesson = *model.session.lesson;
  const paint::Size size = canvas.size();
  canvas.fill(0, 0, size.columns, size.rows, paint::Cell{});
  const auto lines = all_lines(lesson, size.columns - 2);
  const int room = std::max(size.rows - 1, 1), first = std::min(state.scrolled_by(kLessonKey), last_line(lesson, size));
  for (int y = 0; y < room && first + y < static_cast<int>(lines.size()); ++y) {
    const LessonLine& line = lines[static_cast<std::size_t>(first + y)];
    canvas.text(1, y, line.text, line.ink, Ink::kDefault, line.bold);
  }
  if (size.rows > 1)
    canvas.text(1, size.rows - 1, keys_in_words(lesson, size.columns - 2, true), Ink::kKeyHint, Ink::kDefault, true);
}

void draw_lesson_reminder(paint::Canvas& canvas, const layout::Layout& layout, const Model& model) {
  if (layout.axis < 0) return;
  const Lesson& lesson = *model.session.lesson;
  const int columns = layout.map.width / 2;
  const std::string words = paint::longest_fitting(
      {fmt::format(" L lesson {} of {}", lesson.page, lesson.pages), " L lesson", " L"}, columns);
  const int begin = layout.map.x + layout.map.width - paint::columns_of(words);
  erase_cut_label(canvas, layout, begin);
  canvas.text(begin, layout.axis, words, Ink::kKeyHint, Ink::kDefault, true);
}

}  // namespace idlewave::view::panels
