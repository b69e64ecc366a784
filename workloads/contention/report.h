#pragma once
// What iw-contention prints.

#include <string>

#include "workloads/contention/measure.h"

namespace idlewave::contention {

/// Lines that end.
std::string table(const Measured& measured, int domains);

std::string json(const Options& options, const Measured& measured, int domains);

}  // namespace idlewave::contention
