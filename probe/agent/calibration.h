#pragma once

#include <optional>

#include "probe/shm/clock_reading.h"
#include "probe/shm/layout.h"

namespace idlewave::agent {

/// How this node's clock is read: through the time stamp counter where that runs at one rate for ever, fitted to
/// CLOCK_MONOTONIC, else by clock_gettime. The fit is good to about 2 parts in a million. Takes 20 ms, or 1 ms where
/// `earlier` tells both clocks of this machine as they were at least so long ago, and at most a minute; one that can't
/// be true is passed over.
shm::Clock calibrate_clock(const std::optional<shm::ClockReading>& earlier = std::nullopt);

}  // namespace idlewave::agent
