#include "monitor/analysis/steps/said_calls.h"

namespace idlewave::analysis::steps {

using wire::Nanoseconds;

/// A switch at the end belongs to the call before it: a step ends with that.
void SaidCalls::read(const timeline::Lane& lane, Nanoseconds from, Nanoseconds to) {
  said_.clear();
  next_ = 0;
  lane.for_each_event(from, to + Nanoseconds{1}, [&](const wire::Event& event) {
    if (event.kind == wire::EventKind::kSwitch && event.value != 0)
      said_.push_back({event.time, wire::CallPartners::of(event.value)});
  });
}

wire::CallPartners SaidCalls::of_call_until(Nanoseconds end) {
  while (next_ < said_.size() && said_[next_].at < end) ++next_;
  return next_ < said_.size() && said_[next_].at == end ? said_[next_].with : wire::CallPartners();
}

}  // namespace idlewave::analysis::steps
