#include "monitor/timeline/live_edge.h"

#include <utility>

namespace idlewave::timeline {
namespace {

/// In the room of the old one, where there was one.
void replace(std::multiset<Nanoseconds>& times, std::optional<Nanoseconds> old, std::optional<Nanoseconds> now) {
  auto room = old ? times.extract(times.find(*old)) : std::multiset<Nanoseconds>::node_type();
  if (!now) return;
  if (room.empty()) return static_cast<void>(times.insert(*now));
  room.value() = *now;
  times.insert(std::move(room));
}

}  // namespace

void LiveEdge::move(std::optional<Place>& place, Place to) {
  const auto old = place ? std::optional(place->until) : std::nullopt;
  replace(all_, old, to.until);
  replace(running_, place && place->runs ? old : std::nullopt, to.runs ? std::optional(to.until) : std::nullopt);
  place = to;
}

Nanoseconds LiveEdge::now() const {
  if (all_.empty()) return {};
  const Nanoseconds farthest = *all_.rbegin();
  const auto slowest = running_.lower_bound(farthest - kSilence);
  return slowest == running_.end() ? farthest : *slowest;
}

}  // namespace idlewave::timeline
