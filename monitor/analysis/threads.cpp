#include "monitor/analysis/threads.h"

#include <numeric>
#include <vector>

namespace idlewave::analysis {

using timeline::Timeline;

std::optional<ThreadUse> thread_use(const Timeline& timeline, std::span<const Rank> ranks, Window window) {
  ThreadUse use;
  for (const Rank rank : ranks) {
    const timeline::Lane* lane = timeline.lane(rank);
    const auto times = lane ? lane->thread_times(window.from, window.to) : std::nullopt;
    if (!times || times->known <= 0) continue;
    ++use.ranks;
    use.most += times->most;
    use.working += times->worked / times->known;
    use.calling += times->called / times->known;
    use.asleep += times->slept() / times->known;
  }
  return use.ranks > 0 ? std::optional(use) : std::nullopt;
}

std::optional<ThreadUse> thread_use(const Timeline& timeline, Window window) {
  std::vector<Rank> all(std::size_t(timeline.ranks()));
  std::iota(all.begin(), all.end(), Rank{0});
  return thread_use(timeline, all, window);
}

}  // namespace idlewave::analysis
