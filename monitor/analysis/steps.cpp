#include "monitor/analysis/steps.h"

#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {
namespace {

using timeline::Lane;
using timeline::StepRecord;
using timeline::Timeline;

struct Sums {
  std::int64_t steps = 0;
  Nanoseconds whole{}, compute{}, wait{}, delay{};

  void add(const StepRecord& record) {
    ++steps;
    whole += record.end - record.begin;
    compute += record.compute;
    wait += record.wait + record.communicate;
    delay += record.delay;
  }
};

void add_steps_within(const Lane& lane, Window window, Sums& sums) {
  for (auto record = lane.steps().rbegin(); record != lane.steps().rend(); ++record) {
    if (record->end == Nanoseconds{0} || record->end > window.to) continue;
    if (record->end <= window.from) break;
    sums.add(*record);
  }
}

}  // namespace

StepTimes step_times(const Timeline& timeline, Window window) {
  Sums sums;
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    if (const Lane* lane = timeline.lane(rank)) add_steps_within(*lane, window, sums);
  }
  StepTimes times;
  times.steps = sums.steps;
  if (sums.steps == 0) return times;
  times.mean = sums.whole / sums.steps;
  times.compute_mean = sums.compute / sums.steps;
  times.wait_mean = sums.wait / sums.steps;
  times.delay_mean = sums.delay / sums.steps;
  return times;
}

Skew skew(const Timeline& timeline, Nanoseconds at) {
  const std::vector<Rank> ranks = heard_ranks(timeline);
  const wire::Step common = common_step(timeline, ranks, at);
  if (common == wire::kNoStep) return {};
  return {common, begin_spread(timeline, ranks, common).value_or(Nanoseconds{0})};
}

}  // namespace idlewave::analysis
