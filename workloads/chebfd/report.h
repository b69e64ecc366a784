#pragma once
// What iw-chebfd prints.

#include <string>

#include "workloads/chebfd/figures.h"
#include "workloads/chebfd/options.h"

namespace idlewave::chebfd {

/// Lines that end. A table of the processes one by one only where there are few.
std::string tables(const Options& options, const Run& run);

std::string json(const Options& options, const Run& run);

}  // namespace idlewave::chebfd
