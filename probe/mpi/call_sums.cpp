#include "probe/mpi/call_sums.h"

#include "probe/mpi/roles.h"

namespace idlewave::mpi {

static_assert(std::size(kArguments) <= shm::kCallFunctions);

void CallSums::begin(shm::Slot& slot) {
  slot_ = &slot;
  counter_.attach(slot.calls);
  for (std::uint16_t& place : places_) place = kNone;
}

/// Of the call that is open.
std::uint32_t CallSums::place_of_new() {
  const auto call = static_cast<std::size_t>(call_);
  return places_[call] = static_cast<std::uint16_t>(counter_.add_function(calls()[call].name));
}

}  // namespace idlewave::mpi
