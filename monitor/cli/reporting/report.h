#pragma once
// Findings as JSON, with the keys that other people's programs read (docs/report.md).

#include <string>

#include "monitor/analysis/domains/activity.h"
#include "monitor/analysis/session/missing.h"
#include "monitor/timeline/timeline.h"
#include "probe/words/window.h"
#include "workloads/support/json.h"

namespace idlewave::cli::reporting {

/// Of the time until the last rank stopped.
analysis::Window window_of(const timeline::Timeline& timeline, words::Fractions fractions);

/// What is missing, as `report` and `info` write it.
support::Json missing_json(const analysis::session::Missing& missing);

/// Whose processes died, and when; a session in which some did may be complete.
support::Json lost_ranks_json(const timeline::Timeline& timeline);

/// What happened, key by key.
support::Json report_of(const timeline::Timeline& timeline, words::Fractions fractions);
/// What that report says at `path`, keys and places joined by dots (domains.1.active_mean), of a window of a session that
/// may go on; only what this needs is worked out. Paths into `waves` see those alone whose origin was held by an order.
/// Null where nothing is known, and for what lessons can't look at (monitor/lesson/figures.h).
support::Json lesson_finding(const timeline::Timeline& timeline, analysis::Window window, std::string_view path);
/// report_of as text, indented, with a newline at the end.
std::string report_json(const timeline::Timeline& timeline, words::Fractions fractions);

/// What happened, for people: a few lines.
std::string report_text(const timeline::Timeline& timeline, words::Fractions fractions);

}  // namespace idlewave::cli::reporting
