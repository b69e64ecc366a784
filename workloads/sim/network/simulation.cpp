#include "workloads/sim/network/simulation.h"

#include <algorithm>
#include <cmath>

namespace idlewave::sim::network {

std::int64_t whole_ns(double seconds) { return std::int64_t(std::min(std::floor(seconds * 1e9), 0x1p62)); }

}  // namespace idlewave::sim::network
