#pragma once
// What a report says of who made whom wait.

#include <string>

#include "monitor/analysis/causes/causes.h"
#include "monitor/timeline/timeline.h"
#include "workloads/support/json.h"

namespace idlewave::cli::reporting {

/// Of the whole run, rank by rank.
support::Json causes_json(const timeline::Timeline& timeline, const analysis::causes::CauseGround& ground);
/// The worst few, in a short table.
std::string causes_text(const timeline::Timeline& timeline, const analysis::causes::CauseGround& ground);

/// Where it is known from whom ranks wait for whom: "declared", "partly declared" or "inferred"; null
/// where it is not known.
support::Json partners_json(const analysis::partners::Partners& partners);
/// The same in a line, with whom they wait for; empty where it is not known.
std::string partners_text(const timeline::Timeline& timeline, const analysis::partners::Partners& partners);

}  // namespace idlewave::cli::reporting
