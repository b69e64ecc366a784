#pragma once
// Findings as JSON, with the keys that other people's programs read (docs: "report").

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "monitor/analysis/activity.h"
#include "monitor/analysis/missing.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::cli {

/// Part of a run, as fractions of it.
struct WindowFractions {
  double from = 0.5;
  double to = 0.95;
};

/// "0.6:0.9" to fractions; 0 <= from < to <= 1.
wire::Result<WindowFractions> parse_window(const std::string& text);

/// Of the time until the last rank stopped.
analysis::Window window_of(const timeline::Timeline& timeline, WindowFractions fractions);

/// What is missing, as `report` and `info` write it.
nlohmann::ordered_json missing_json(const analysis::Missing& missing);

/// What happened, key by key.
nlohmann::ordered_json report_of(const timeline::Timeline& timeline, WindowFractions fractions);
/// The same as text, indented, with a newline at the end.
std::string report_json(const timeline::Timeline& timeline, WindowFractions fractions);

/// The same for people: a few lines.
std::string report_text(const timeline::Timeline& timeline, WindowFractions fractions);

}  // namespace idlewave::cli
