#include "monitor/analysis/concurrency.h"

#include <algorithm>

#include "monitor/theory/contention.h"

namespace idlewave::analysis {
namespace {

/// A rank begins or ends to work.
struct Change {
  Nanoseconds at{};
  int by = 0;
};

}  // namespace

Bandwidth bandwidth_of(const wire::DomainInfo& info) {
  if (!info.curve.empty() && info.curve.front() > 0)
    return [curve = info.curve](int active) { return curve[std::min(std::size_t(active), curve.size()) - 1]; };
  if (info.core_bandwidth <= 0 || info.saturated_bandwidth <= 0) return {};
  return [core = info.core_bandwidth, full = info.saturated_bandwidth](int active) {
    return theory::domain_bandwidth(active, core, full);
  };
}

double saturation_point(const wire::DomainInfo& info) {
  return info.curve.empty() ? theory::saturation_point(info.core_bandwidth, info.saturated_bandwidth)
                            : theory::saturation_point(info.curve);
}

Window work_of(const StepCourse& course) {
  const Nanoseconds work = course.work();
  return course.held > work ? Window{course.post - work, course.post} : Window{course.begin, course.begin + work};
}

std::vector<Window> work_in(const timeline::Timeline& timeline, std::span<const Rank> ranks, Window window) {
  std::vector<Window> all;
  for (const Rank rank : ranks) {
    const timeline::Lane* lane = timeline.lane(rank);
    if (!lane) continue;
    lane->for_each_step(window.from, window.to, [&](const timeline::StepRecord& record) {
      const Window work = work_of(course_of(*lane, record));
      all.push_back({std::max(work.from, window.from), std::min(work.to, window.to)});
    });
  }
  return all;
}

Concurrency::Concurrency(std::span<const Window> work, const Bandwidth& bandwidth) {
  std::vector<Change> changes;
  for (const Window& each : work)
    if (each.from < each.to) changes.push_back({each.from, +1}), changes.push_back({each.to, -1});
  std::ranges::sort(changes, {}, &Change::at);
  int active = 0;
  for (const Change& change : changes) {
    active += change.by;
    if (levels_.empty() || levels_.back().from < change.at)
      levels_.push_back({.from = change.at,
                         .rank_time = {up_to(&Level::rank_time, change.at)},
                         .volume = {up_to(&Level::volume, change.at)},
                         .alone = {up_to(&Level::alone, change.at)}});
    Level& level = levels_.back();
    const double together = active == 0 ? 0 : bandwidth ? bandwidth(active) * 1e-9 : active;
    level.rank_time.per_ns = active;
    level.volume.per_ns = together;
    level.alone.per_ns = active == 0 ? 0 : together / active / (bandwidth ? bandwidth(1) * 1e-9 : 1);
  }
}

double Concurrency::up_to(Level::Growth Level::*of, Nanoseconds time) const {
  const auto after = std::ranges::upper_bound(levels_, time, {}, &Level::from);
  if (after == levels_.begin()) return 0;
  const Level& level = *std::prev(after);
  return (level.*of).until + (level.*of).per_ns * double((time - level.from).count());
}

}  // namespace idlewave::analysis
