#include "probe/client/run_sum.h"

namespace idlewave::client {

using wire::EventKind;

void RunSum::begin(std::uint64_t position, const wire::Event& event) {
  begin_ns_ = event.time.count();
  run_ = {.position = position, .end_ns = begin_ns_};
  run_.go_on_with(event.phase);
  // Else one step after another would end a run that has only begun.
  step_is_due_ = event.kind != EventKind::kStep;
  latest_ = 0;
  has_step_ = false;
  shared_->put(run_);
}

void RunSum::stop() {
  begin_ns_ = kNever;
  has_step_ = false;
  run_ = {};
  shared_->put(run_);
}

bool RunSum::add_step(std::int64_t at) {
  const bool is_short = at - step_ns_ < kShortStep;
  step_ns_ = at;
  if (!is_short || step_is_due_ || run_.count == 0) return false;
  return has_step_ = true;
}

}  // namespace idlewave::client
