#pragma once

#include <vector>

#include "monitor/timeline/event_store.h"

namespace idlewave::timeline {

/// What the lanes of one node read together. Owned by Timeline at an address that stays.
/// Three clocks: the node's own; lane time, in which lanes store: node's minus `base`, fixed when the first event
/// comes; and session time, which readers see: lane time minus `correction`, so that a better estimate of the clock
/// rewrites nothing.
struct NodeClock {
  Nanoseconds base{};
  Nanoseconds correction{};
  Nanoseconds up_to{};  ///< Lane time; every event before it has come. Valid if `told`.
  bool told = false;
  BasicPhases basic{};
  /// Lane times, ascending, from which on something is missing. A lane remembers how many there were at its latest
  /// event, so that a gap costs nothing for each of a million ranks.
  std::vector<Nanoseconds> gaps;

  Nanoseconds session_time(Nanoseconds lane_time) const { return lane_time - correction; }
  Nanoseconds lane_time(Nanoseconds session_time) const { return session_time + correction; }
};

}  // namespace idlewave::timeline
