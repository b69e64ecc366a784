#pragma once
// What iw-hybrid prints.

#include <string>
#include <vector>

#include "workloads/hybrid/figures.h"

namespace idlewave::hybrid {

std::string table(const Options& options, const std::vector<Run>& runs);  ///< Lines that end.

std::string json(const Options& options, const std::vector<Run>& runs);

}  // namespace idlewave::hybrid
