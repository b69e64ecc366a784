#pragma once
// What iw-progress prints.

#include <string>
#include <string_view>
#include <vector>

#include "workloads/progress/measure.h"

namespace idlewave::progress {

/// The verdict and a table over the time of work, lines that end.
std::string table(const Measurement& measurement);

/// `mpi`: what the library calls itself.
std::string json(const std::vector<Measurement>& measurements, std::string_view mpi);

}  // namespace idlewave::progress
