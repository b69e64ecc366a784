#include "probe/client/run_sum.h"

#include <algorithm>
#include <iterator>

namespace idlewave::client {

using wire::Event;
using wire::EventKind;

void RunSum::begin(std::uint64_t position, const Event& event) {
  if (event.kind == EventKind::kStep || is_due_before(event)) is_step_untold_ = false;
  run_ = {.position = position, .end_ns = event.time.count()};
  until_ns_ = run_.end_ns + kLongestRun;
  many_until_ns_ = kNever;
  run_.go_on_with(event.phase);
  // Else one step after another would end a run that has only begun.
  step_is_due_ = event.kind != EventKind::kStep;
  latest_ = 0;
  forget_places();
  has_step_ = false;
  shared_->put(run_);
}

void RunSum::stop() {
  until_ns_ = many_until_ns_ = kNever;
  forget_places();
  has_step_ = is_step_untold_ = false;
  run_ = {};
  shared_->put(run_);
}

bool RunSum::add(Event event) {
  if (event.kind == EventKind::kSwitch) return add_phase(event);
  return event.kind == EventKind::kStep && add_step(event);
}

bool RunSum::add_phase(Event event) {
  if (!is_short(event)) return false;
  std::uint8_t place = places_[static_cast<std::size_t>(run_.current())];
  if (place == kNoPlace) place = place_of_new(run_.current());
  if (place == kNoPlace) return false;
  if (run_.count < kFew) events_[run_.count] = event;
  const std::int64_t at = event.time.count();
  shared_->grow(run_, {at, at - run_.end_ns, event.phase, run_.current(), place, std::exchange(latest_, place)});
  if (run_.count >= kFew) many_until_ns_ = until_ns_;
  return true;
}

/// kNoPlace: there is no room for another one.
std::uint8_t RunSum::place_of_new(wire::Phase phase) {
  const auto place = static_cast<std::uint8_t>(run_.used());
  if (place == shm::kRunPhases) return kNoPlace;
  run_.add(phase);
  return places_[static_cast<std::size_t>(phase)] = place;
}

void RunSum::forget_places() { std::fill(std::begin(places_), std::end(places_), kNoPlace); }

bool RunSum::add_step(const Event& event) {
  const std::int64_t at = event.time.count();
  const bool is_short = at - step_ns_ < kShortStep;
  step_ns_ = at;
  if (!is_short || step_is_due_ || run_.count == 0) return false;
  step_ = event.value;
  return has_step_ = is_step_untold_ = true;
}

}  // namespace idlewave::client
