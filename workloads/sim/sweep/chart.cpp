#include "workloads/sim/sweep/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace idlewave::sim::sweep {
namespace {

constexpr int kRows = 12;
constexpr std::size_t kColumns = 68;  ///< Beside the labels of the y axis.
constexpr std::size_t kWidest = 10;   ///< Of a place whose label needs no more.

struct Range {
  double least = 1;
  double most = 1;
  double at(int row) const { return least + (most - least) * row / (kRows - 1); }
  int row_of(double value) const { return int(std::lround((value - least) / (most - least) * (kRows - 1))); }
};

Range range_of(const Chart& chart) {
  Range range;
  for (const Curve& curve : chart.curves) {
    for (const auto& value : curve.values) {
      if (value) range = {std::min(range.least, *value), std::max(range.most, *value)};
    }
  }
  if (range.most - range.least < 0.01) range.most = range.least + 0.01;
  return range;
}

/// So many that no two rows beside each other are called the same.
int decimals_of(const Range& range) {
  const double step = (range.most - range.least) / (kRows - 1);
  return std::clamp(int(-std::floor(std::log10(step))), 0, 6);
}

char mark_of(std::size_t curve) { return char('a' + curve % 26); }

/// Side by side in the middle of a place.
std::size_t place_of(std::size_t curve, std::size_t curves, std::size_t width) {
  return curves <= width ? (width - curves) / 2 + curve : curve % width;
}

std::vector<std::string> picture(const Chart& chart, const Range& range, std::size_t width) {
  std::vector<std::string> rows(kRows, std::string(width * chart.x_labels.size(), ' '));
  for (std::size_t c = 0; c < chart.curves.size(); ++c) {
    for (std::size_t i = 0; i < chart.curves[c].values.size(); ++i) {
      const auto& value = chart.curves[c].values[i];
      if (!value) continue;
      rows[std::size_t(range.row_of(*value))][i * width + place_of(c, chart.curves.size(), width)] = mark_of(c);
    }
  }
  return rows;
}

/// Of each place, all in kColumns if there is room.
std::size_t width_of_places(const Chart& chart) {
  std::size_t widest = kWidest;
  for (const std::string& label : chart.x_labels) widest = std::max(widest, label.size() + 1);
  return std::clamp<std::size_t>(kColumns / std::max<std::size_t>(1, chart.x_labels.size()), 1, widest);
}

std::string names_of(const Chart& chart) {
  std::string text;
  for (std::size_t c = 0; c < chart.curves.size(); ++c)
    text += fmt::format("{:>9}  {}\n", mark_of(c), chart.curves[c].name);
  return text;
}

}  // namespace

std::string draw(const Chart& chart) {
  const std::size_t width = width_of_places(chart);
  const Range range = range_of(chart);
  const auto rows = picture(chart, range, width);
  std::string text = fmt::format("{}\n{}\n", chart.title, chart.y_name);
  const int decimals = decimals_of(range);
  for (int row = kRows; row-- > 0;)
    text += fmt::format("{:>8.{}f} |{}\n", range.at(row), decimals, rows[std::size_t(row)]);
  std::string labels;
  for (const std::string& label : chart.x_labels)
    labels += fmt::format("{:^{}}", label.size() < width ? label : label.substr(0, width - 1), width);
  text += fmt::format("{:>8} +{}\n{:>8}  {}\n{:>8}  {}\n", "", std::string(rows.front().size(), '-'), "", labels, "",
                      chart.x_name);
  return text + names_of(chart);
}

}  // namespace idlewave::sim::sweep
