#pragma once
// What a report says of who made whom wait.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "monitor/timeline/timeline.h"

namespace idlewave::cli {

/// Of the whole run, rank by rank.
nlohmann::ordered_json causes_json(const timeline::Timeline& timeline);
/// The worst few, in a short table.
std::string causes_text(const timeline::Timeline& timeline);

}  // namespace idlewave::cli
