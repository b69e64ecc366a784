#pragma once

#include "probe/wire/result.h"
#include "workloads/support/scenario.h"

namespace idlewave::support {

/// Whether `iw-ring` can play all of `scenario` with real MPI ranks. Error: the first key that only a simulation can
/// obey, and why.
wire::Status playable_by_real_ranks(const Scenario& scenario);

}  // namespace idlewave::support
