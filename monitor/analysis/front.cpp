#include "monitor/analysis/front.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/least_squares.h"
#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::LaneState;
using timeline::StepRecord;
using wire::Step;

constexpr Step kStepsToWait = 3;        ///< A front that needs longer for one rank than this has ended.
constexpr Step kOrdinarySteps = 16;     ///< Steps before the delay that tell what is ordinary.
constexpr double kSmallestIdle = 0.25;  ///< Of a typical step: below it an idle period is not told from a ragged step.
constexpr double kDeviations = 5;       ///< Of the median absolute deviation of ordinary waiting.

/// What a rank usually waits in a step, and what it must exceed to count as reached.
struct Ordinary {
  Nanoseconds wait{};
  Nanoseconds threshold{};
};

Nanoseconds waiting(const StepRecord& record) { return record.wait + record.communicate; }

/// In the steps before `before` of the program that the rank ran at `at`.
Ordinary ordinary_waiting(const Lane& lane, Step before, Nanoseconds at, Nanoseconds typical_step) {
  std::vector<Nanoseconds> waits;
  for (Step step = before - kOrdinarySteps; step < before; ++step) {
    if (const StepRecord* record = lane.step(step, at); record && record->end != Nanoseconds{0})
      waits.push_back(waiting(*record));
  }
  Ordinary ordinary;
  ordinary.wait = median(waits);
  for (Nanoseconds& wait : waits) wait = std::chrono::abs(wait - ordinary.wait);
  const Nanoseconds deviation = median(std::move(waits));
  ordinary.threshold = Nanoseconds(
      std::int64_t(std::max(kSmallestIdle * double(typical_step.count()), kDeviations * double(deviation.count()))));
  return ordinary;
}

/// Waiting so far in a step, and the time up to which it is known.
struct Waited {
  Nanoseconds length{};
  Nanoseconds until{};
};

Waited waited_in(const Lane& lane, const StepRecord& record) {
  if (record.end != Nanoseconds{0}) return {waiting(record), record.end};
  return {lane.time_in(timeline::Category::kWait, record.begin, lane.known_until()), lane.known_until()};
}

}  // namespace

Front::Front(const timeline::Timeline& timeline, const timeline::Delay& delay, int sign, Nanoseconds typical_step)
    : timeline_(timeline), rank_(delay.rank), step_(delay.step), begin_(delay.begin), typical_step_(typical_step) {
  direction_.sign = sign;
  if (timeline.ranks() < 2 || delay.step == wire::kNoStep) stop(WaveEnd::kBoundary);
}

Rank Front::next_rank() const { return (rank_ + direction_.sign + timeline_.ranks()) % timeline_.ranks(); }

bool Front::wrapped(Rank next) const { return direction_.sign > 0 ? next == 0 : next == timeline_.ranks() - 1; }

void Front::stop(WaveEnd end) {
  direction_.end = end;
  moving_ = false;
}

std::optional<FrontPoint> Front::arrival_at(Rank rank) const {
  const Lane* lane = timeline_.lane(rank);
  if (!lane) return std::nullopt;
  const Step origin_step = direction_.front.empty() ? step_ : direction_.front.front().step;
  const Ordinary ordinary = ordinary_waiting(*lane, std::min(origin_step, step_), begin_, typical_step_);
  for (Step step = step_; step <= step_ + kStepsToWait; ++step) {
    const StepRecord* record = lane->step(step, begin_);
    if (!record) continue;
    const Waited waited = waited_in(*lane, *record);
    if (waited.until <= begin_ || waited.length - ordinary.wait < ordinary.threshold) continue;
    return FrontPoint{rank, step, waited.until - waited.length, waited.until, waited.length - ordinary.wait};
  }
  return std::nullopt;
}

/// The rank runs on, and has not yet come through the steps in which the front would show.
bool Front::may_still_come(Rank rank) const {
  const Lane* lane = timeline_.lane(rank);
  if (!lane || lane->steps().empty() || lane->state() != LaneState::kLive) return false;
  const StepRecord& latest = lane->steps().back();
  if (lane->step(latest.step, begin_) != &latest) return false;  // the next program
  return latest.step < step_ + kStepsToWait || (latest.step == step_ + kStepsToWait && latest.end == Nanoseconds{0});
}

/// The next rank has been reached by the other front. Across the ends of the ranks that is a meeting only if it
/// happened just now: else the chain is open, and the other front had come to its own end there long before.
WaveEnd Front::end_before(Rank next, Step reached_in) const {
  return wrapped(next) && reached_in + 1 < step_ ? WaveEnd::kBoundary : WaveEnd::kAnnihilated;
}

void Front::advance(std::map<Rank, Step>& reached) {
  const Rank next = next_rank();
  if (const auto other = reached.find(next); other != reached.end()) return stop(end_before(next, other->second));
  const std::optional<FrontPoint> point = arrival_at(next);
  if (!point) {
    if (may_still_come(next)) return stop(WaveEnd::kRunning);
    // Whether the ends of the chain are joined is not told; a front that does not come out on the other side has met a
    // boundary.
    return stop(wrapped(next) ? WaveEnd::kBoundary : WaveEnd::kDecayed);
  }
  reached.emplace(next, point->step);
  rank_ = next;
  step_ = point->step;
  direction_.front.push_back(*point);
}

WaveDirection Front::take() {
  std::vector<double> distance, seconds, idle, edge_steps, edge_distance;
  for (const FrontPoint& point : direction_.front) {
    distance.push_back(double(distance.size() + 1));
    seconds.push_back(double(point.arrival.count()) * 1e-9);
    idle.push_back(double(point.idle.count()) * 1e-9);
    if (edge_steps.empty() || double(point.step) != edge_steps.back()) {
      edge_steps.push_back(double(point.step));
      edge_distance.push_back(distance.back());
    } else {
      edge_distance.back() = distance.back();
    }
  }
  // The farthest rank of each step makes the edge; the last step may be cut off in its midst.
  if (edge_steps.size() > 2) edge_steps.pop_back(), edge_distance.pop_back();
  direction_.reach_ranks = int(distance.size());
  direction_.speed_ranks_per_s = slope(seconds, distance);
  direction_.ranks_per_step = edge_steps.size() > 1 ? slope(edge_steps, edge_distance) : double(direction_.reach_ranks);
  direction_.decay_s_per_rank = std::max(0.0, -slope(distance, idle));
  return std::move(direction_);
}

}  // namespace idlewave::analysis
