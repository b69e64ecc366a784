#include "monitor/cli/calibration/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace idlewave::cli::calibration {
namespace {

constexpr int kLabel = 7;      ///< Columns left of the axis.
constexpr int kBelow = 3;      ///< Rows: axis, numbers of cores, marks.
constexpr int kWidestGap = 8;  ///< Columns from one n to the next.

/// What a cell shows; signs later.
using Cells = std::vector<std::u32string>;

struct Signs {
  char32_t vertical, corner, horizontal, line;
  std::u32string marks, saturated;  ///< Of each curve: a point of it, and its saturation point.
};

const Signs& signs_for(bool unicode) {
  static const Signs kAscii{U'|', U'+', U'-', U':', U"xo*", U"XO#"};
  static const Signs kUnicode{U'│', U'└', U'─', U'┊', U"○△□", U"●▲■"};
  return unicode ? kUnicode : kAscii;
}

std::string utf8(char32_t sign) {
  if (sign < 0x80) return {char(sign)};
  return {char(0xE0 | (sign >> 12)), char(0x80 | ((sign >> 6) & 0x3F)), char(0x80 | (sign & 0x3F))};
}

std::string utf8(const std::u32string& text) {
  std::string out;
  for (const char32_t sign : text) out += utf8(sign);
  return out.substr(0, out.find_last_not_of(' ') + 1);
}

struct Scale {
  int rows, columns;
  std::size_t cores;
  double most;
  int row_of(double bandwidth) const { return rows - 1 - int(std::lround(bandwidth / most * (rows - 1))); }
  int column_of(std::size_t n) const {
    const int gap = std::min(kWidestGap, columns / int(cores));
    return gap > 0 ? int(n) * gap - 1 : int(n * std::size_t(columns) / cores) - 1;
  }
};

Scale scale_of(const std::vector<PlottedCurve>& curves, const PlotSize& size) {
  Scale scale{std::max(2, size.rows - kBelow), std::max(8, size.columns - kLabel - 2), 1, 1};
  for (const PlottedCurve& curve : curves) {
    scale.cores = std::max(scale.cores, curve.bandwidths.size());
    scale.most = std::max(scale.most, std::ranges::max(curve.bandwidths));
  }
  return scale;
}

void draw(const PlottedCurve& curve, std::size_t index, const Scale& scale, const Signs& signs, Cells& cells) {
  for (std::size_t n = 1; n <= curve.bandwidths.size(); ++n) {
    const auto column = std::size_t(std::max(0, scale.column_of(n)));
    const int row = scale.row_of(curve.bandwidths[n - 1]);
    const bool saturated = int(n) == curve.saturation_point;
    for (int below = row + 1; saturated && below < scale.rows; ++below) {
      char32_t& cell = cells[std::size_t(below)][column];
      if (cell == U' ') cell = signs.line;
    }
    cells[std::size_t(row)][column] = (saturated ? signs.saturated : signs.marks)[index % signs.marks.size()];
  }
}

/// As many numbers as have room.
std::string numbers_below(const Scale& scale) {
  std::string line(std::size_t(scale.columns), ' ');
  std::size_t free = 0;
  for (std::size_t n = 1; n <= scale.cores; ++n) {
    const std::string number = std::to_string(n);
    const auto end = std::size_t(std::max(0, scale.column_of(n))) + 1;
    const std::size_t begin = end > number.size() ? end - number.size() : 0;
    if (begin < free || begin + number.size() > line.size()) continue;
    line.replace(begin, number.size(), number);
    free = begin + number.size() + 1;
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string legend(const std::vector<PlottedCurve>& curves, const Signs& signs) {
  std::string text = "cores";
  for (std::size_t i = 0; i < curves.size(); ++i) {
    text += fmt::format("   {} {} {}", utf8(signs.marks[i % signs.marks.size()]),
                        utf8(signs.saturated[i % signs.marks.size()]), curves[i].name);
  }
  return text + ", its saturation point";
}

}  // namespace

std::string plot(const std::vector<PlottedCurve>& curves, const PlotSize& size) {
  const Scale scale = scale_of(curves, size);
  const Signs& signs = signs_for(size.unicode);
  Cells cells(std::size_t(scale.rows), std::u32string(std::size_t(scale.columns), U' '));
  for (std::size_t i = 0; i < curves.size(); ++i) draw(curves[i], i, scale, signs, cells);
  std::string text;
  for (int row = 0; row < scale.rows; ++row) {
    const double bandwidth = scale.most * (scale.rows - 1 - row) / (scale.rows - 1);
    const bool labelled = row == 0 || row == scale.rows - 1 || row == (scale.rows - 1) / 2;
    text += labelled ? fmt::format("{:{}.4g}", bandwidth * 1e-9, kLabel) : std::string(kLabel, ' ');
    text += utf8(signs.vertical) + utf8(cells[std::size_t(row)]) + "\n";
  }
  text += fmt::format("{:>{}}", "GB/s", kLabel) + utf8(signs.corner) +
          utf8(std::u32string(std::size_t(scale.columns), signs.horizontal)) + "\n";
  text += std::string(kLabel + 1, ' ') + numbers_below(scale);
  return text + std::string(kLabel + 1, ' ') + legend(curves, signs) + "\n";
}

}  // namespace idlewave::cli::calibration
