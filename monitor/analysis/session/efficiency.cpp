#include "monitor/analysis/session/efficiency.h"

#include <algorithm>
#include <numeric>

#include "monitor/analysis/steps/step_history.h"

namespace idlewave::analysis::session {

std::optional<Efficiency> efficiency(const timeline::Timeline& timeline, Window window) {
  const Nanoseconds from = std::max(window.from, timeline.begin());
  const Nanoseconds to = std::min(window.to, timeline.now());
  double computed = 0, present = 0, largest = 0;
  for (const Rank rank : steps::heard_ranks(timeline)) {
    const timeline::Times times = timeline.lane(rank)->times(from, to);
    const double compute = double(times[std::size_t(timeline::Category::kCompute)]);
    const double there = std::accumulate(times.begin(), times.end(), 0.0);
    if (there <= 0) continue;
    computed += compute;
    present += there;
    largest = std::max(largest, compute / there);
  }
  if (present <= 0) return std::nullopt;
  const double parallel = computed / present;
  return Efficiency{parallel, largest > 0 ? std::optional(parallel / largest) : std::nullopt, largest};
}

}  // namespace idlewave::analysis::session
