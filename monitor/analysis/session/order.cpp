#include "monitor/analysis/session/order.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::session {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;

/// In turns; nothing for a rank that is in no step, as one that has done its last and waits for others to end.
std::optional<double> turns_at(const Lane& lane, Nanoseconds at, Nanoseconds typical) {
  if (steps::was_silent(lane, at)) return std::nullopt;
  const std::size_t begun = lane.steps_begun_before(at + Nanoseconds{1});
  if (begun == 0) return std::nullopt;
  const StepRecord record = lane.steps()[begun - 1];
  if (at - record.begin > typical && lane.time_in(timeline::Category::kOther, at - typical, at) >= typical)
    return std::nullopt;
  return double(record.step) + std::min(1.0, double((at - record.begin).count()) / double(typical.count()));
}

}  // namespace

std::optional<Order> order_at(const Timeline& timeline, Nanoseconds at) {
  const Nanoseconds typical = steps::typical_step_length(timeline, at);
  if (typical <= Nanoseconds{0}) return std::nullopt;
  std::vector<double> turns;
  std::size_t heard = 0;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const Lane* lane = timeline.lane(rank);
    if (!lane || lane->events() == 0) continue;
    ++heard;
    if (const auto each = turns_at(*lane, at, typical)) turns.push_back(*each);
  }
  // Those who are left when most have ended say nothing of the run as a whole.
  if (turns.size() < 2 || 2 * turns.size() < heard) return std::nullopt;
  return Order{theory::phase_order(turns), at, int(turns.size())};
}

std::vector<Order> order_over(const Timeline& timeline, Window window, int points) {
  std::vector<Order> orders;
  for (int i = 0; i < points; ++i) {
    const Nanoseconds last = window.to - Nanoseconds{1};
    const double part = points > 1 ? double(i) / double(points - 1) : 1;
    const auto at = window.from + Nanoseconds(std::llround(part * double((last - window.from).count())));
    if (const auto order = order_at(timeline, at)) orders.push_back(*order);
  }
  return orders;
}

}  // namespace idlewave::analysis::session
