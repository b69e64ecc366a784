#pragma once
// What something has counted over time: bytes that a domain has moved, what one of its meters tells.

#include <cstddef>
#include <vector>

#include "monitor/timeline/records.h"

namespace idlewave::timeline {

/// Of one node, in lane time.
struct SampleLane {
  const NodeClock* clock = nullptr;
  std::vector<Sample> samples;
  Nanoseconds known_to = Nanoseconds::min();  ///< End of the latest sample; min() before the first event.
  CountedEver ever;                           ///< Of all samples, also those that are not kept any more.

  /// Nothing is known from here to the next event.
  void interrupt() { known_to = Nanoseconds::min(); }
  /// An event of it, in order of time. Of samples `most` are kept, the latest ones. How many more there are than before.
  std::ptrdiff_t add(Nanoseconds at, const wire::Event& event, std::size_t most);
};

}  // namespace idlewave::timeline
