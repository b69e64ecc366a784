#pragma once
// What iw-contention prints.

#include <string>
#include <vector>

#include "workloads/contention/measure.h"

namespace idlewave::contention {

/// Lines that end.
std::string table(const std::vector<Point>& points, int domains);

std::string json(const Options& options, const std::vector<Point>& points, int domains);

}  // namespace idlewave::contention
