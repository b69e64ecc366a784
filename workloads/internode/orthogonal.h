#pragma once
// What of the orthogonal exchange was measured, and what follows from it.

#include <cstddef>
#include <optional>
#include <vector>

#include "workloads/internode/orthogonal_options.h"

namespace idlewave::internode {

/// Who of a node sends what its processes have for the next node, and whether they also send each other what threads
/// would share.
struct Way {
  int communicating = 1;
  bool horizontal = false;
};

/// Pure MPI first, then each number of communicating processes.
std::vector<Way> ways_of(const OrthogonalOptions& options, int ranks_per_node);

/// Seconds of an exchange, of the process that took longest.
struct Point {
  std::size_t size = 0;  ///< Of a message of pure MPI.
  Way way;
  double exchange = 0;
  double vertical = 0;  ///< Of it, messages to the other node.
};

struct Figures {
  int nodes = 0;
  int ranks_per_node = 0;
  std::vector<Point> points;  ///< Sizes ascend; the same ways of each.
  std::int64_t wrong = 0;     ///< Messages.
};

double predicted(const theory::NodeNetwork& network, int ranks_per_node, const Point& point);

/// The points of one way, by size.
std::vector<Point> points_of(const Figures& figures, const Way& way);

/// Bytes per second that leave a node in messages to another one, while they are exchanged.
double bandwidth_between_nodes(const Point& point, int ranks_per_node);

/// How many times as long as pure MPI's of its size an exchange takes; nothing of pure MPI itself.
std::optional<double> ratio_of(const Figures& figures, const Point& point);

/// T_masteronly / T_pure MPI over sizes.
struct Ratio {
  std::size_t size = 0;
  double ratio = 0;
};
std::vector<Ratio> ratios_of(const Figures& figures);

/// The size at which the last change from masteronly to pure MPI lies, between two that were measured, by a straight line
/// over their logarithms; nothing where there is none.
std::optional<double> crossing_of(const std::vector<Ratio>& ratios);

}  // namespace idlewave::internode
