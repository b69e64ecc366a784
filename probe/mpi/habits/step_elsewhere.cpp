// Places that steps may end with as well as with theirs, and do from when a round has left out theirs.

#include <algorithm>

#include "probe/mpi/habits/step_finder.h"

namespace idlewave::mpi::habits {

/// Not in place of a call that all take part in: a solver that begins anew leaves it out, and goes through no iteration. If the
/// sequence has such a call, no other is what all ranks have in common.
void StepFinder::find_alternatives() {
  for (Place& place : places_) place.in_round = 0;
  if (rounds_ > 1 || ends_with_meeting_) return expect_alternatives();
  bool meets_all = false;
  for (std::uint32_t back = 0; back < period_; ++back) meets_all = meets_all || places_[latest(back).slot].meets_all;
  for (std::uint32_t back = 0; back < period_; ++back) {
    const std::uint32_t slot = latest(back).slot;
    Place& place = places_[slot];
    const bool may_be = place.waits && place.site.place != anchor_.place && place.meets_all == meets_all;
    if (!may_be || !is_left_equally_often(slot, period_)) continue;
    const std::uint32_t in_round = visits_of(slot, period_) * shortest_run(slot, period_);
    place.in_round = static_cast<std::uint16_t>(std::min<std::uint32_t>(in_round, UINT16_MAX));
    alternatives_[slot].not_counted = before_ == 0 ? 0 : place.ever.times - place.lately.times;
  }
  expect_alternatives();
}

/// They are noted where the next step begins: until then it depends on where in a round that is which of them are to come.
void StepFinder::expect_alternatives() {
  const bool has_some = std::ranges::any_of(places_, [](const Place& place) { return place.in_round > 0; });
  found_ = next_;
  noted_ = has_some ? wire::kNoStep : found_;
  passing_ = has_some ? 0 : patience_ - 1;
}

/// From now on, more calls than usual since the steps' place was left may be of a round that has left it out.
void StepFinder::note_alternatives() {
  noted_ = next_;
  passing_ = others_;
  for (std::uint32_t slot = 0; slot < kPlaces; ++slot) {
    if (places_[slot].in_round == 0) continue;
    alternatives_[slot].rounds = rounds_by_calls(slot, places_[slot].ever.times);
    alternatives_[slot].steps = places_[slot].steps;
  }
}

/// A place that is left equally often each time, so that rows which follow one another are told apart.
std::uint32_t StepFinder::rounds_by_calls(std::uint32_t slot, std::uint32_t times) const {
  return static_cast<std::uint32_t>(before_) + (times - alternatives_[slot].not_counted) / places_[slot].in_round;
}

/// This step. By calls too few where somebody was left out in some, and by steps where one had two rounds.
std::uint32_t StepFinder::rounds_before(std::uint32_t slot) const {
  const Place& place = places_[slot];
  const std::uint32_t by_steps = alternatives_[slot].rounds + place.steps - alternatives_[slot].steps - 1;
  return std::max(by_steps, rounds_by_calls(slot, place.ever.times - place.lately.times));
}

/// Of the place that was new last, as row_of().
StepFinder::Row StepFinder::alternative() const {
  Row best;
  for (std::uint32_t back = 0; back < period_; ++back) {
    const std::uint32_t slot = latest(back).slot;
    const bool is_newer = best.slot == kPlaces || places_[slot].seen_as > places_[best.slot].seen_as;
    if (!is_newer || places_[slot].in_round == 0) continue;
    const bool comes_once = visits_of(slot, period_) == 1;
    const Row row = comes_once ? Row{.slot = slot, .first = back, .last = back} : widest_row_of(slot, period_);
    if (comes_once || is_apart(row, period_)) best = row;
  }
  return best;
}

/// What has not come in each step until now is left out of some round as well, and no alternative.
void StepFinder::keep_alternatives() {
  const wire::Step steps = next_ - noted_ + 1;
  for (std::uint32_t slot = 0; slot < kPlaces; ++slot) {
    Place& place = places_[slot];
    const bool has_come = place.since == next_ && 2u * place.lately.times >= place.in_round;
    if (!has_come || wire::Step{place.steps - alternatives_[slot].steps} != steps) place.in_round = 0;
  }
}

/// The place with which steps have ended was left out of a round; another one has come in its second since.
wire::Step StepFinder::end_steps_elsewhere(std::uint32_t slot) {
  keep_alternatives();
  const Row row = alternative();
  if (row.slot == kPlaces) places_[slot].in_round = 0;
  if (row.slot == kPlaces) return wire::kNoStep;
  end_steps_with(row);
  Place& anchor = places_[row.slot];
  const bool is_left_now = row.slot == slot;
  const bool goes_on = is_left_now || std::ranges::find(in_row(), places_[slot].site.place) != in_row().end();
  const std::uint32_t left = anchor.lately.times - is_left_now;
  const std::uint32_t rounds = rounds_before(row.slot) + (goes_on ? left / anchor.in_round : anchor.rounds_lately());
  since_anchor_ = 0;
  run_ = goes_on ? static_cast<std::int32_t>(left % anchor.in_round) : 0;
  next_ = std::max(next_, wire::Step{rounds});
  anchor.in_round = 0;
  for (std::uint32_t other = 0; other < kPlaces; ++other) {
    const Place& place = places_[other];
    if (place.in_round == 0) continue;
    const std::uint32_t calls = (rounds_before(other) - static_cast<std::uint32_t>(before_)) * place.in_round;
    alternatives_[other].not_counted = place.ever.times - place.lately.times - calls;
  }
  expect_alternatives();
  return is_left_now ? leave_anchor() : wire::kNoStep;
}

}  // namespace idlewave::mpi::habits
