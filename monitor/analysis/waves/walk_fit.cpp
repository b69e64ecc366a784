#include "monitor/analysis/waves/walk_fit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace idlewave::analysis::waves {
namespace {

using Values = std::span<const double>;

double mean(Values values) { return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size()); }

struct Line {
  Values x, y;
  std::size_t increments() const { return x.size() - 1; }
};

std::vector<Line> lines_of(Values x, Values y, std::span<const unsigned> stretches) {
  std::vector<Line> lines;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= x.size(); ++i)
    if (i == x.size() || stretches[i] != stretches[begin]) {
      lines.push_back({x.subspan(begin, i - begin), y.subspan(begin, i - begin)});
      begin = i;
    }
  return lines;
}

/// Over lines. The slope is the sum of the increments of y, each by its weight, over xx.
struct WalkSums {
  double xx = 0, xy = 0;
  double walk = 0;  ///< Variance of xy, where y is a random walk that gains 1 in variance while x goes on by 1.
  double x = 0, y = 0;
  std::size_t increments = 0;

  void add(const Line& line) {
    const double middle = mean(line.x);
    double weight = 0;
    x += line.x.back() - line.x.front(), y += line.y.back() - line.y.front();
    for (std::size_t i = line.x.size(); i-- > 1;) {
      const double along = line.x[i] - line.x[i - 1];
      weight += line.x[i] - middle;
      xx += weight * along, xy += weight * (line.y[i] - line.y[i - 1]), walk += weight * weight * std::abs(along);
      ++increments;
    }
  }
};

double squares_beside(const Line& line, double slope) {
  const double x = mean(line.x), y = mean(line.y);
  double sum = 0;
  for (std::size_t i = 0; i < line.x.size(); ++i) sum += std::pow(line.y[i] - y - slope * (line.x[i] - x), 2);
  return sum;
}

/// The same of such a random walk, as it is expected of points at equal distances.
double squares_beside_walk(const Line& line) {
  const double points = double(line.x.size());
  if (points < 2) return 0;
  return (points * points - 4) / (points - 1) * std::abs(line.x.back() - line.x.front()) / 15;
}

/// What the walk gains in variance while x goes on by 1, as its increments tell.
double variance_of_increments(const std::vector<Line>& lines, const WalkSums& sums) {
  double squares = 0;
  for (const Line& line : lines)
    for (std::size_t i = 1; i < line.x.size(); ++i) {
      const double along = line.x[i] - line.x[i - 1];
      if (along != 0) squares += std::pow(line.y[i] - line.y[i - 1] - sums.y / sums.x * along, 2) / std::abs(along);
    }
  return squares / double(sums.increments - 1);
}

/// The same, as all tells that lies beside the lines.
double variance_beside(const std::vector<Line>& lines, double slope) {
  double beside = 0, of_walk = 0;
  for (const Line& line : lines) beside += squares_beside(line, slope), of_walk += squares_beside_walk(line);
  return of_walk > 0 ? beside / of_walk : 0;
}

/// The quantile of Student's t that 2.5 % lie above, over that of the normal distribution. From three degrees of freedom on by
/// Abramowitz and Stegun, 26.7.5, within 0.2 %.
double widening(std::size_t degrees) {
  constexpr double kNormal = 1.959964;
  if (degrees == 1) return 12.7062 / kNormal;
  if (degrees == 2) return 4.30265 / kNormal;
  const double over = 1 / double(degrees);
  return 1 + over * (2.37227 + over * (2.82249 + over * (2.55585 + over * 1.58954))) / kNormal;
}

}  // namespace

std::optional<Estimate> fitted_walk(Values x, Values y, std::span<const unsigned> stretches) {
  assert(x.size() == y.size() && x.size() == stretches.size());
  const std::vector<Line> lines = lines_of(x, y, stretches);
  WalkSums sums;
  for (const Line& line : lines) sums.add(line);
  if (sums.increments < (lines.size() > 1 ? 2u : 1u) || !(sums.xx > 0)) return std::nullopt;
  Estimate estimate{.value = sums.xy / sums.xx, .error = std::nullopt, .points = int(x.size())};
  if (sums.increments < 2) return estimate;
  const double variance = std::max(variance_of_increments(lines, sums), variance_beside(lines, estimate.value));
  estimate.error = std::sqrt(variance * sums.walk) / sums.xx * widening(sums.increments - 1);
  return estimate;
}

}  // namespace idlewave::analysis::waves
