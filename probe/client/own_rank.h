#pragma once
// The rank that this process reports as, for those of our libraries that are the client's caller and count beside it.

#include <optional>

#include "probe/shm/layout.h"

namespace idlewave::client {

/// Where the rank's own numbers stand; null while it does not report. Gone when it stops.
shm::Slot* own_slot();

/// As idlewave_switch_; when that was. Nothing: the calling thread does not report.
std::optional<wire::Nanoseconds> switch_at(int phase);

}  // namespace idlewave::client
