#include "monitor/analysis/efficiency.h"

#include <algorithm>

#include "monitor/analysis/step_history.h"

namespace idlewave::analysis {

Efficiency efficiency(const timeline::Timeline& timeline, Window window) {
  const std::vector<Rank> ranks = heard_ranks(timeline);
  const Nanoseconds from = std::max(window.from, timeline.begin());
  const Nanoseconds to = std::min(window.to, timeline.now());
  if (ranks.empty() || to <= from) return {};
  double sum = 0, largest = 0;
  for (const Rank rank : ranks) {
    const double compute = double(timeline.lane(rank)->time_in(timeline::Category::kCompute, from, to).count());
    sum += compute;
    largest = std::max(largest, compute);
  }
  const double mean = sum / double(ranks.size());
  const double elapsed = double((to - from).count());
  return {mean / elapsed, largest > 0 ? mean / largest : 0, largest / elapsed};
}

}  // namespace idlewave::analysis
