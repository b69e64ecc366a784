#pragma once
// What a report says of who made whom wait.

#include <string>

#include "monitor/timeline/timeline.h"
#include "workloads/support/json.h"

namespace idlewave::cli {

/// Of the whole run, rank by rank.
support::Json causes_json(const timeline::Timeline& timeline);
/// The worst few, in a short table.
std::string causes_text(const timeline::Timeline& timeline);

}  // namespace idlewave::cli
