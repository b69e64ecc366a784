#pragma once

#include "probe/wire/vocabulary.h"

namespace idlewave::timeline {

/// Whether the program of a rank holds itself, which it says by the phase kDelay alone: follows the events of its lane. What
/// is told as a sum is too short to be a delay; and the phase that goes on after a loss may be an order's, whose begin was
/// lost.
class OwnDelay {
 public:
  bool goes_on() const { return goes_on_; }
  /// True if it begins or ends with this event. An order that comes meanwhile ends it, and it begins anew behind that.
  bool turns(const wire::Event& event) {
    if (event.kind != wire::EventKind::kSwitch)
      tells_sums_ = event.kind == wire::EventKind::kSummed && event.value != 0;
    if (!wire::changes_phase(event.kind) || is_held(event) == goes_on_) return false;
    goes_on_ = !goes_on_;
    return true;
  }

 private:
  bool is_held(const wire::Event& event) const {
    if (event.phase != wire::Phase::kDelay || tells_sums_ || event.kind == wire::EventKind::kDelayBegin) return false;
    return goes_on_ || event.kind != wire::EventKind::kDropped;
  }

  bool goes_on_ = false;
  bool tells_sums_ = false;
};

}  // namespace idlewave::timeline
