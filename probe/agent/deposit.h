#pragma once

#include "probe/agent/agent.h"

namespace idlewave::agent {

/// Where we are in another table of processes than the session's host, the kernel ends us, with all our ranks, when the first
/// process of that table ends: then the host has told what lies in the memory (monitor/host/deposits.h), which is handed to
/// it here. There, and where we have another time, it does not know us by our number, and is handed a sign of this process, which
/// lives as long as there is an agent. Waits for nobody; where that can't be done, what was not told by then is lost.
void leave_with_host(const Options& options, const Segment& segment);

}  // namespace idlewave::agent
