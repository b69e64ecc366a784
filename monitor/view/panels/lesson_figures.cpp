#include "monitor/view/panels/lesson_figures.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "monitor/view/paint/text.h"

namespace idlewave::view::panels {

namespace {

constexpr int kColumns = 4;

/// How a table may look, the best first.
struct TableForm {
  int bar_length = 0;
  bool is_stacked = false;  ///< Labels stand above their figures.
};
constexpr std::array<TableForm, 5> kTableForms{{{12}, {6}, {0}, {6, true}, {0, true}}};

constexpr int kBetweenColumns = 2;

struct FigureCell {
  std::string words;
  double bar = 0;  ///< 0 to 1.
};
using FigureRow = std::array<FigureCell, kColumns>;

std::string padded(std::string text, int columns) {
  text.append(std::size_t(std::max(columns - paint::columns_of(text), 0)), ' ');
  return text;
}

/// A figure above 0 has a bar that is seen.
std::string bar_of(double part, int length) {
  std::string bar;
  for (int i = 0; i < int(std::ceil(part * length - 0.5)) || (i == 0 && part > 0); ++i) bar += "▆";
  return padded(bar, length + 1);
}

std::vector<FigureRow> rows_of(const Lesson& lesson) {
  const bool compares =
      std::ranges::any_of(lesson.figures, [](const wire::LessonFigure& figure) { return !figure.before.empty(); });
  std::vector<FigureRow> rows{{{{}, {compares ? "before" : ""}, {compares ? "after" : "measured"}, {"theory"}}}};
  for (const wire::LessonFigure& figure : lesson.figures)
    rows.push_back({{{figure.label},
                     {figure.before, figure.before_bar},
                     {figure.now, figure.now_bar},
                     {figure.theory, figure.theory_bar}}});
  return rows;
}

/// A column of which no figure has a bar has none.
std::vector<std::string> columns_in_line(const std::vector<FigureRow>& rows, std::size_t first, int bar_length) {
  std::vector<std::string> lines(rows.size());
  for (std::size_t column = first; column < kColumns; ++column) {
    const auto cell = [column](const FigureRow& row) -> const FigureCell& { return row[column]; };
    if (std::ranges::all_of(rows, [&](const FigureRow& row) { return cell(row).words.empty(); })) continue;
    const bool has_bars =
        bar_length > 0 && std::ranges::any_of(rows, [&](const FigureRow& row) { return cell(row).bar > 0; });
    std::vector<std::string> cells;
    for (const FigureRow& row : rows) {
      const bool is_heading = &row == &rows.front();
      cells.push_back((has_bars && !is_heading ? bar_of(cell(row).bar, bar_length) : "") + cell(row).words);
    }
    const std::string& widest = *std::ranges::max_element(cells, {}, paint::columns_of);
    const int width = paint::columns_of(widest) + (column + 1 < kColumns ? kBetweenColumns : 0);
    for (std::size_t i = 0; i < rows.size(); ++i) lines[i] += padded(cells[i], width);
  }
  return lines;
}

std::vector<std::string> table_of(const std::vector<FigureRow>& rows, const TableForm& form) {
  std::vector<std::string> lines = columns_in_line(rows, form.is_stacked ? 1 : 0, form.bar_length);
  for (std::size_t i = 1; form.is_stacked && i < rows.size(); ++i)
    lines.insert(lines.begin() + std::ptrdiff_t(2 * i - 1), rows[i].front().words);
  return lines;
}

}  // namespace

std::vector<LessonLine> figure_lines(const Lesson& lesson, int columns) {
  if (lesson.figures.empty()) return {};
  const std::vector<FigureRow> rows = rows_of(lesson);
  for (const TableForm& form : kTableForms) {
    const std::vector<std::string> table = table_of(rows, form);
    if (paint::columns_of(*std::ranges::max_element(table, {}, paint::columns_of)) > columns) continue;
    std::vector<LessonLine> lines;
    for (const std::string& line : table)
      lines.push_back({line, lines.empty() ? paint::Ink::kDim : paint::Ink::kStrong});
    return lines;
  }
  return {};
}

}  // namespace idlewave::view::panels
