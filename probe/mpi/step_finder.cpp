#include "probe/mpi/step_finder.h"

#include <algorithm>

namespace idlewave::mpi {

wire::Step StepFinder::leave_other(std::uintptr_t place) {
  const std::uint32_t slot = number_of(place);
  if (slot == kPlaces) return wire::kNoStep;
  if (anchor_ != 0) {
    if (++since_anchor_ < kLongAbsence) return wire::kNoStep;
    anchor_ = 0;  // The program has gone on to something else.
    remembered_ = 0;
  }
  ++places_[slot].times;
  return search(slot);
}

wire::Step StepFinder::search(std::uint32_t slot) {
  history_[remembered_++ % kHistory] = static_cast<std::uint16_t>(slot);
  const std::uint32_t found = period();
  if (found == 0) return wire::kNoStep;
  choose_anchor(found);
  // Else the next step begins when the program comes to it.
  return anchor_ == places_[slot].address ? next_++ : wire::kNoStep;
}

/// kPlaces: there is no room for another.
std::uint32_t StepFinder::number_of(std::uintptr_t place) {
  std::uint32_t slot = home_of(place);
  while (places_[slot].address != 0 && places_[slot].address != place) slot = (slot + 1) % kPlaces;
  if (places_[slot].address == place) return slot;
  if (places_known_ + 1 >= kPlaces) return kPlaces;  // One stays free, so that every look ends.
  places_[slot] = {place, places_known_++, 0};
  return slot;
}

/// Of the shortest sequence that the latest calls repeat; 0: none.
std::uint32_t StepFinder::period() const {
  const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(remembered_, kHistory));
  const std::uint32_t longest = std::min(kLongest, known / kTimes);
  for (std::uint32_t period = 1; period <= longest; ++period) {
    const std::uint32_t calls = std::max(kTimes * period, kFewestCalls);
    if (calls <= known && repeats(period, calls)) return period;
  }
  return 0;
}

bool StepFinder::repeats(std::uint32_t period, std::uint32_t calls) const {
  for (std::uint32_t back = 0; back < calls - period; ++back) {
    if (latest(back) != latest(back + period)) return false;
  }
  return true;
}

/// The place that was new last, of those that the sequence comes to once.
void StepFinder::choose_anchor(std::uint32_t period) {
  const Place* best = nullptr;
  for (std::uint32_t back = 0; back < period; ++back) {
    const std::uint32_t slot = latest(back);
    std::uint32_t times = 0;
    for (std::uint32_t other = 0; other < period; ++other) times += latest(other) == slot;
    if (times == 1 && (best == nullptr || places_[slot].seen_as > best->seen_as)) best = &places_[slot];
  }
  if (best == nullptr) return;
  anchor_ = best->address;
  const bool is_left_now = best == &places_[latest(0)];
  next_ = std::max(next_, static_cast<wire::Step>(best->times) - is_left_now);
  since_anchor_ = 0;
}

}  // namespace idlewave::mpi
