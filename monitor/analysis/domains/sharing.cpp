#include "monitor/analysis/domains/sharing.h"

#include <algorithm>
#include <cmath>

#include "monitor/analysis/domains/concurrency.h"

namespace idlewave::analysis::domains {

Sharing::Sharing(const timeline::Timeline& timeline, Window window)
    : timeline_(timeline), window_(window), ranks_(std::size_t(timeline.ranks())) {}

/// Steps that the window holds, and the one before them: others may be at work in it when the first begins.
std::size_t Sharing::look_at(std::size_t domain) {
  const timeline::Domain& each = timeline_.domains()[domain];
  const Bandwidth bandwidth = bandwidth_of(each.info);
  if (!bandwidth) return 0;
  std::vector<Window> work;
  for (const Rank rank : each.ranks) {
    const timeline::Lane* lane = timeline_.lane(rank);
    if (!lane) continue;
    lane->for_each_step(window_.from - Nanoseconds{1}, window_.to, [&](const timeline::StepRecord& record) {
      work.push_back(work_of(steps::course_at(*lane, record, window_.to)));
      ranks_.of(std::size_t(rank)).push_back({record.begin, work.back().length()});
    });
  }
  const std::vector<double> alone = times_alone(work, bandwidth);
  auto its = alone.begin();
  for (const Rank rank : each.ranks)
    for (SlowedStep& step : ranks_.of(std::size_t(rank))) step.slowed -= Nanoseconds(std::llround(*its++));
  return work.size();
}

Nanoseconds Sharing::slowed(Rank rank, Nanoseconds begin) const {
  const auto& steps = ranks_[std::size_t(rank)];
  const auto found = std::ranges::lower_bound(steps, begin, {}, &SlowedStep::begin);
  return found != steps.end() && found->begin == begin ? found->slowed : Nanoseconds{0};
}

}  // namespace idlewave::analysis::domains
