#include "monitor/timeline/sample_lane.h"

#include <utility>

namespace idlewave::timeline {

std::ptrdiff_t SampleLane::add(Nanoseconds at, const wire::Event& event, std::size_t most) {
  const Nanoseconds from = std::exchange(known_to, at);
  if (event.kind != wire::EventKind::kBandwidth || from == Nanoseconds::min()) return 0;
  samples.push_back({from, at, event.value});
  ever.amount += event.value;
  ever.covered += at - from;
  if (samples.size() <= most) return 1;
  const auto older_half = std::ptrdiff_t((samples.size() + 1) / 2);
  samples.erase(samples.begin(), samples.begin() + older_half);
  return 1 - older_half;
}

}  // namespace idlewave::timeline
