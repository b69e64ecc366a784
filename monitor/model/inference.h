#pragma once
// What was inferred from a recording, and what could not be, in words and in JSON.

#include <string>
#include <vector>

#include "monitor/analysis/program/program.h"
#include "workloads/support/json.h"

namespace idlewave::model {

/// Whoever waits for the rank above waits for the one below as well, and messages take no time: eager and rendezvous are
/// the same then.
bool is_either_protocol(const analysis::partners::Exchange& exchange);

/// Sentences: what the times do not tell, and what is assumed instead; and the waits that the model does not explain.
std::vector<std::string> not_told(const analysis::program::Program& program);

/// The keys of docs/scenario.md.
support::Json inference_json(const analysis::program::Program& program);

}  // namespace idlewave::model
