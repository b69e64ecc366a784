#pragma once
// What `idlewave report` finds in a run, of whose history a session would have as much.

#include <cstdint>

#include "monitor/timeline/timeline.h"
#include "probe/wire/result.h"
#include "probe/words/window.h"
#include "workloads/support/json.h"

namespace idlewave::cli::simulation {

/// Null where nothing can be found. A line on stderr says so, or what the history of `memory` bytes has no room for.
support::Json findings_of(const timeline::Timeline& timeline, words::Fractions window, std::uint64_t memory);

/// A line on stderr.
void say_that_nothing_is_found(const wire::Error& why);

}  // namespace idlewave::cli::simulation
