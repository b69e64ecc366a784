#pragma once
// What is known of the clocks of a session's nodes, and what is not claimed because of that.

#include <string>

#include "monitor/analysis/waves/waves.h"
#include "monitor/timeline/timeline.h"
#include "workloads/support/json.h"

namespace idlewave::cli::reporting {

/// By node; empty where no two of them have clocks of their own.
support::Json clocks_json(const timeline::Timeline& timeline);
/// The same, a line each under a heading.
std::string clocks_text(const timeline::Timeline& timeline);
/// The same in one line: "n1 +0 s ± 32 us, n2 -12.3 ms ± 41 us".
std::string clocks_in_words(const timeline::Timeline& timeline);

/// Null where the speed is known, or no front was found.
support::Json blur_json(const analysis::waves::WaveDirection& direction);
/// As a sentence goes on after "its speed is not known: ".
std::string in_words(const analysis::waves::Blur& blur);

}  // namespace idlewave::cli::reporting
