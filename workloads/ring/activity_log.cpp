#include "workloads/ring/activity_log.h"

#include <algorithm>
#include <numeric>

namespace idlewave::ring {

Nanoseconds ActivityLog::total() const { return total_within({Nanoseconds::min(), Nanoseconds::max()}); }

Nanoseconds ActivityLog::total_within(Span window) const {
  return std::accumulate(spans_.begin(), spans_.end(), Nanoseconds{}, [&](Nanoseconds sum, const Span& work) {
    return sum + std::max(Nanoseconds{}, std::min(work.to, window.to) - std::max(work.from, window.from));
  });
}

}  // namespace idlewave::ring
