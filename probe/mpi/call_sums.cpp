#include "probe/mpi/call_sums.h"

#include "probe/mpi/roles.h"

namespace idlewave::mpi {

static_assert(std::size(kArguments) <= shm::kCallFunctions);

void CallSums::begin(shm::Slot& slot) {
  slot_ = &slot;
  counter_.attach(slot.calls);
  for (std::uint16_t& place : places_) place = kNone;
}

}  // namespace idlewave::mpi
