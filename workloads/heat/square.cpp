#include "workloads/heat/square.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace idlewave::heat {
namespace {

constexpr double kStep = 0.2;  ///< Of time, over the square of the distance of points; at most 1/4 is stable.

double along(const Square& square, int at) { return double(at) / (square.points + 1); }

}  // namespace

double decay(const Square& square) {
  const double half_angle = std::sin(std::numbers::pi / 2 * along(square, 1));
  return 1 - 8 * kStep * half_angle * half_angle;
}

void set_row(const Square& square, int row, std::int64_t step, double* out) {
  const double y = along(square, row);
  const double wave = std::pow(decay(square), double(step)) * std::sin(std::numbers::pi * y);
  const bool is_wall = row == 0 || row == square.points + 1;
  for (int column = 0; column < int(square.width()); ++column)
    out[column] = y + (is_wall ? 0 : wave * std::sin(std::numbers::pi * along(square, column)));
}

void update_row(const Square& square, const double* below, const double* row, const double* above, double* out) {
  for (int i = 1; i <= square.points; ++i)
    out[i] = row[i] + kStep * (row[i - 1] + row[i + 1] + below[i] + above[i] - 4 * row[i]);
}

double error_of_row(const Square& square, int row, std::int64_t step, const double* found) {
  std::vector<double> right(square.width());
  set_row(square, row, step, right.data());
  double largest = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const double off = std::abs(found[i] - right[i]);
    largest = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(largest, off);
  }
  return largest;
}

}  // namespace idlewave::heat
