#include "workloads/internode/orthogonal.h"

#include <algorithm>
#include <cmath>

namespace idlewave::internode {

std::vector<Way> ways_of(const OrthogonalOptions& options, int ranks_per_node) {
  std::vector<Way> ways{{ranks_per_node, true}};
  for (const int communicating : options.communicating) ways.push_back({communicating, false});
  if (!options.communicating.empty()) return ways;
  for (int communicating = 1; communicating < ranks_per_node; communicating *= 2)
    ways.push_back({communicating, false});
  ways.push_back({ranks_per_node, false});
  return ways;
}

double predicted(const theory::NodeNetwork& network, int ranks_per_node, const Point& point) {
  const double bytes = double(point.size);
  const double vertical = theory::vertical_time(network, ranks_per_node, point.way.communicating, bytes);
  return vertical + (point.way.horizontal ? theory::horizontal_time(network, bytes) : 0);
}

std::vector<Point> points_of(const Figures& figures, const Way& way) {
  std::vector<Point> points;
  std::ranges::copy_if(figures.points, std::back_inserter(points), [&](const Point& point) {
    return point.way.communicating == way.communicating && point.way.horizontal == way.horizontal;
  });
  return points;
}

double bandwidth_between_nodes(const Point& point, int ranks_per_node) {
  return double(point.size) * ranks_per_node / point.exchange;
}

std::optional<double> ratio_of(const Figures& figures, const Point& point) {
  if (point.way.horizontal) return std::nullopt;
  const auto pure = std::ranges::find_if(
      figures.points, [&](const Point& other) { return other.way.horizontal && other.size == point.size; });
  return pure == figures.points.end() ? std::nullopt : std::optional(point.exchange / pure->exchange);
}

std::vector<Ratio> ratios_of(const Figures& figures) {
  std::vector<Ratio> ratios;
  for (const Point& masteronly : points_of(figures, {1, false}))
    if (const auto ratio = ratio_of(figures, masteronly)) ratios.push_back({masteronly.size, *ratio});
  return ratios;
}

std::optional<double> crossing_of(const std::vector<Ratio>& ratios) {
  for (std::size_t i = ratios.size(); i-- > 1;) {
    const double below = std::log(ratios[i - 1].ratio), above = std::log(ratios[i].ratio);
    if (!(below < 0 && above >= 0)) continue;
    const double from = std::log(double(ratios[i - 1].size)), to = std::log(double(ratios[i].size));
    return std::exp(from + (to - from) * below / (below - above));
  }
  return std::nullopt;
}

}  // namespace idlewave::internode
