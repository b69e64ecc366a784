#include "monitor/analysis/sharing.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/step_course.h"
#include "monitor/theory/contention.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::StepRecord;

/// A rank begins or ends to be active.
struct Change {
  Nanoseconds at{};
  std::uint32_t work = 0;
  int by = 0;
};

/// The work of one step.
struct Work {
  Rank rank = 0;
  Nanoseconds step_begin{}, length{};
  double alone = 0;
};

/// A record does not tell whether noise or a delay held the rank; only a delay is longer than the work, and comes first.
void add_work(Rank rank, const StepCourse& course, std::vector<Work>& works, std::vector<Change>& changes) {
  const Nanoseconds work = course.work();
  const Nanoseconds from = course.held > work ? course.post - work : course.begin;
  changes.push_back({from, std::uint32_t(works.size()), +1});
  changes.push_back({from + work, std::uint32_t(works.size()), -1});
  works.push_back({rank, course.begin, work, 0});
}

/// Steps that the window holds, and the one before them: others may be at work in it when the first begins.
void add_lane(const Lane& lane, Rank rank, Window window, std::vector<Work>& works, std::vector<Change>& changes) {
  lane.for_each_step(window.from - Nanoseconds{1}, window.to,
                     [&](const StepRecord& record) { add_work(rank, course_of(lane, record), works, changes); });
}

/// Adds up the speed at which each that is active works.
void add_up(const wire::DomainInfo& info, std::vector<Change>& changes, std::vector<Work>& works) {
  std::ranges::sort(changes, {}, &Change::at);
  double service = 0;
  int active = 0;
  Nanoseconds since{};
  for (const Change& change : changes) {
    if (active > 0)
      service += double((change.at - since).count()) *
                 theory::domain_bandwidth(active, info.core_bandwidth, info.saturated_bandwidth) /
                 (double(active) * info.core_bandwidth);
    works[change.work].alone -= change.by * service;
    active += change.by;
    since = change.at;
  }
}

}  // namespace

Sharing::Sharing(const timeline::Timeline& timeline, Window window)
    : timeline_(timeline), window_(window), ranks_(std::size_t(timeline.ranks())) {}

std::size_t Sharing::look_at(std::size_t domain) {
  const timeline::Domain& each = timeline_.domains()[domain];
  if (each.info.core_bandwidth <= 0 || each.info.saturated_bandwidth <= 0) return 0;
  std::vector<Work> works;
  std::vector<Change> changes;
  for (const Rank rank : each.ranks)
    if (const Lane* lane = timeline_.lane(rank)) add_lane(*lane, rank, window_, works, changes);
  add_up(each.info, changes, works);
  for (const Work& work : works)
    ranks_[std::size_t(work.rank)].push_back({work.step_begin, work.length - Nanoseconds(std::llround(work.alone))});
  return works.size();
}

Nanoseconds Sharing::slowed(Rank rank, Nanoseconds begin) const {
  const auto& steps = ranks_[std::size_t(rank)];
  const auto found = std::ranges::lower_bound(steps, begin, {}, &SlowedStep::begin);
  return found != steps.end() && found->begin == begin ? found->slowed : Nanoseconds{0};
}

}  // namespace idlewave::analysis
