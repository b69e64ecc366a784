// Places told apart by how deep in the stack they are called, for as long as that leads to steps.

#include <algorithm>
#include <utility>

#include "probe/mpi/habits/step_finder.h"

namespace idlewave::mpi::habits {

/// No loop comes in any length, and one does by addresses alone; or there is no room for more places.
bool StepFinder::are_depths_in_vain() {
  if (depth_ == 0) return false;
  if (places_known_ + 1 >= kPlaces) return true;
  if (!is_short(next_) || remembered_ < look_at_depths_) return false;
  look_at_depths_ = remembered_ + kTimesOfAnother;
  for (std::uint32_t period = 2; period <= kLongest; ++period) {
    const std::uint32_t runs = std::max(kTimes * period, kFewestPlaces);
    if (repeats(period, runs)) return false;
    if (repeats_by_address(period, runs)) return true;
  }
  return false;
}

bool StepFinder::repeats_by_address(std::uint32_t period, std::uint32_t runs) const {
  for (std::uint32_t back = 0; back < runs - period; ++back)
    if (address_of(latest(back).slot) != address_of(latest(back + period).slot)) return false;
  return true;
}

/// For good. What has come at any depth has come there; no steps are known.
void StepFinder::go_by_addresses() {
  std::uint16_t by_age[kPlaces] = {}, moved_to[kPlaces] = {};
  for (std::uint32_t slot = 0; slot < kPlaces; ++slot) {
    Place& place = places_by_depth_[slot] = std::exchange(places_[slot], {});
    if (place.site.place == 0) continue;
    place.site.place -= place.site.frame * depth_;
    by_age[place.seen_as] = static_cast<std::uint16_t>(slot);
  }
  anchor_.place -= anchor_.frame * depth_;
  depth_ = 0;
  const std::uint32_t known = std::exchange(places_known_, 0);
  for (std::uint32_t age = 0; age < known; ++age) {
    const Place& place = places_by_depth_[by_age[age]];
    const std::uint32_t slot = number_of(place.site);
    moved_to[by_age[age]] = static_cast<std::uint16_t>(slot);
    places_[slot].take_counts_of(place);
  }
  for (Run& run : history_) run.slot = moved_to[run.slot];
  previous_slot_ = kPlaces;
  run_ = 0;
  in_row_count_ = 0;
  ++cycles_;
}

}  // namespace idlewave::mpi::habits
