#pragma once
// On how many cores a program works when others share the node with it.

#include <sched.h>

#include <span>
#include <vector>

namespace idlewave::sim::sweep {

/// Those that this process may run on.
cpu_set_t usable_cores();

/// For processes of one node, by the cores that each may run on: how many each one works on, at least 1. A core that
/// several may use belongs to one of them, in turn, so that none is left idle and none is worked on twice.
std::vector<int> share_cores(std::span<const cpu_set_t> usable);

}  // namespace idlewave::sim::sweep
