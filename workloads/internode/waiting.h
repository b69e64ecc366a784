#pragma once
// Waiting for messages in MPI, or off the core.

#include "workloads/distributed/patience.h"

namespace idlewave::internode {

/// Calls is_done until it says so.
template <class IsDone>
void wait_until(IsDone is_done, bool asleep) {
  for (const distributed::Patience patience; !is_done();)
    if (asleep) patience.sleep();
}

}  // namespace idlewave::internode
