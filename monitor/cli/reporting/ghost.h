#pragma once
// What a report says of where the ranks left the model of their program.

#include <string>

#include "monitor/timeline/timeline.h"
#include "workloads/support/json.h"

namespace idlewave::cli::reporting {

/// The keys of docs/report.md; with `error` alone where no model can be made.
support::Json ghost_json(const timeline::Timeline& timeline);
/// The same in a few lines.
std::string ghost_text(const timeline::Timeline& timeline);

}  // namespace idlewave::cli::reporting
