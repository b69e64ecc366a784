#pragma once
// What iw-spmv prints.

#include <string>
#include <vector>

#include "workloads/spmv/figures.h"

namespace idlewave::spmv {

/// Lines that end. A table of the processes one by one only where there are few.
std::string tables(const Options& options, const std::vector<Run>& runs);

std::string json(const Options& options, const std::vector<Run>& runs);

}  // namespace idlewave::spmv
