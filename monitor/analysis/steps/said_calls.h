#pragma once
// With whom a rank's calls were, as they say it.

#include <vector>

#include "monitor/timeline/timeline.h"
#include "probe/wire/call_partners.h"

namespace idlewave::analysis::steps {

/// Of a stretch of a rank's time that is read from front to back. Costs in proportion to events.
class SaidCalls {
 public:
  void read(const timeline::Lane& lane, wire::Nanoseconds from, wire::Nanoseconds to);
  /// Of the call that ended then; times that are asked for may not decrease.
  wire::CallPartners of_call_until(wire::Nanoseconds end);

 private:
  struct Said {
    wire::Nanoseconds at{};
    wire::CallPartners with;
  };
  std::vector<Said> said_;  ///< Those of whom it is said.
  std::size_t next_ = 0;
};

}  // namespace idlewave::analysis::steps
