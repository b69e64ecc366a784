#pragma once

#include <algorithm>
#include <cstddef>

#include "workloads/support/scenario.h"

namespace idlewave::sim::core {

/// b(n) of a memory domain, bytes/s; n at least 1.
inline double bandwidth(const support::Machine& machine, std::size_t active) {
  if (machine.curve.empty())
    return std::min(static_cast<double>(active) * machine.core_bandwidth, machine.domain_bandwidth);
  return machine.curve[std::min(active, machine.curve.size()) - 1];
}

}  // namespace idlewave::sim::core
