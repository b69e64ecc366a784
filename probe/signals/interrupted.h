#pragma once
// Whether a run that nobody watches is to end with what it has.

#include <atomic>

namespace idlewave::signals {

/// Set once SIGINT, SIGTERM or (without nohup) SIGHUP has come; from the first call on, they end nothing by themselves.
/// While there are StopSignals, the signals are theirs.
const std::atomic<bool>& interrupted();

}  // namespace idlewave::signals
