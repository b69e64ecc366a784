#pragma once
// The workloads' clock and how they wait on it.

#include "probe/wire/vocabulary.h"

namespace idlewave::support {

/// CLOCK_MONOTONIC, the clock that all processes of a node share. Any thread.
wire::Nanoseconds monotonic_now();

/// Sleeps until that moment, or returns at once if it is past. Signals do not shorten it. Late by some tens of
/// microseconds.
void sleep_until(wire::Nanoseconds moment);

/// Asks the kernel to run this thread soon after its sleeps end: no timer slack (else 50 us), and a short time slice,
/// which since Linux 6.12 lets a thread that wakes up go before those that compute. Without effect where the kernel
/// knows neither.
void ask_for_prompt_wake_ups();

}  // namespace idlewave::support
