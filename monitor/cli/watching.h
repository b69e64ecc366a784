#pragma once
// The loops around a monitor: on a terminal, or without one. They own the clock.

#include <functional>

#include "monitor/cli/monitor.h"
#include "monitor/cli/options.h"
#include "monitor/term/terminal.h"

namespace idlewave::cli {

/// Asked in every round, with the monitor's time; the loop ends when it says true.
using Done = std::function<bool(Nanoseconds now)>;
inline bool never(Nanoseconds) { return false; }

/// Shows the session until the operator quits, the terminal hangs up, a signal comes, or `done`. Returns 0, or 128 +
/// signal, as by SIGHUP where the terminal has gone; 2 with a message if there is no usable terminal.
int watch_on_screen(Monitor& monitor, const Done& done);

/// Its loop, on a terminal that is open already.
void watch_on(Monitor& monitor, term::Terminal& terminal, const Done& done);

/// The same without a terminal. Returns 0, or 128 + signal.
int watch_headless(Monitor& monitor, const Done& done);

/// Ends a recording; 1 with a message if it could not be written, else `code`.
int finish_recording(Monitor& monitor, int code);

/// The last screen as text to stderr and, if asked for, the report to stdout.
void print_result(Monitor& monitor, const WatchOptions& options);

}  // namespace idlewave::cli
