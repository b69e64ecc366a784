#include "probe/mpi/step_finder.h"

#include <algorithm>

namespace idlewave::mpi {

std::optional<wire::Step> StepFinder::search(std::uintptr_t place) {
  if (anchor_ != 0) {
    // The program has gone on to something else. Its places keep their order; what it does now is looked at alone.
    anchor_ = 0;
    since_anchor_ = 0;
    remembered_ = 0;
  }
  const std::uint32_t slot = number_of(place);
  if (slot == kPlaces) return std::nullopt;
  ++places_[slot].times;
  history_[remembered_++ % kHistory] = static_cast<std::uint16_t>(slot);
  const std::uint32_t found = period();
  if (found == 0) return std::nullopt;
  choose_anchor(found);
  if (anchor_ == 0) return std::nullopt;
  // Calls behind the anchor have been seen; the next step begins with its next return.
  return anchor_ == place ? std::optional(next_++) : std::nullopt;
}

/// kPlaces: there is no room for another.
std::uint32_t StepFinder::number_of(std::uintptr_t place) {
  std::uint32_t slot = static_cast<std::uint32_t>((place * 0x9e3779b97f4a7c15u) >> 32) % kPlaces;
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
    if (latest(period) == latest(0) && repeats(period)) return period;
  }
  return 0;
}

bool StepFinder::repeats(std::uint32_t period) const {
  for (std::uint32_t back = 0; back < (kTimes - 1) * period; ++back) {
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
  next_ = std::max(next_, static_cast<wire::Step>(best->times) - 1);
  since_anchor_ = 0;
}

}  // namespace idlewave::mpi
