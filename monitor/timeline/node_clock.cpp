#include "monitor/timeline/node_clock.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace idlewave::timeline {
namespace {

/// Two neighbouring knots: the line on which something lies whose place among the knots is `after`, from 0.
struct Line {
  const ClockKnot& from;
  const ClockKnot& to;

  double slope() const { return double((to.offset - from.offset).count()) / double((to.at - from.at).count()); }
  Nanoseconds at(Nanoseconds time) const {
    return from.offset + Nanoseconds(std::llround(slope() * double((time - from.at).count())));
  }
};

Line line_after(std::span<const ClockKnot> knots, std::ptrdiff_t after) {
  const auto first = std::size_t(std::clamp<std::ptrdiff_t>(after - 1, 0, std::ptrdiff_t(knots.size()) - 2));
  return {knots[first], knots[first + 1]};
}

Line line_at(std::span<const ClockKnot> knots, Nanoseconds time) {
  const auto after = std::upper_bound(knots.begin(), knots.end(), time,
                                      [](Nanoseconds value, const ClockKnot& knot) { return value < knot.at; });
  return line_after(knots, after - knots.begin());
}

}  // namespace

Nanoseconds ClockCurve::offset_at(Nanoseconds node_time) const {
  return knots.size() == 1 ? knots.front().offset : line_at(knots, node_time).at(node_time);
}

Nanoseconds NodeClock::bent_correction(Nanoseconds lane_time) const { return line_at(bends, lane_time).at(lane_time); }

Nanoseconds NodeClock::bent_lane_time(Nanoseconds session_time) const {
  const auto after =
      std::upper_bound(bends.begin(), bends.end(), session_time,
                       [](Nanoseconds value, const auto& knot) { return value < knot.at - knot.offset; });
  const Line line = line_after(bends, after - bends.begin());
  const Nanoseconds from = line.from.at - line.from.offset;
  Nanoseconds found =
      line.from.at + Nanoseconds(std::llround(double((session_time - from).count()) / (1 - line.slope())));
  // Rounded twice, it is off by a nanosecond or two.
  const Nanoseconds one{1};
  while (this->session_time(found) < session_time) found += one;
  while (this->session_time(found - one) >= session_time) found -= one;
  return found;
}

}  // namespace idlewave::timeline
