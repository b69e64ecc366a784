#pragma once

#include <optional>

#include "workloads/ranks/place.h"

namespace idlewave::spmv {

/// Bytes per second of the STREAM triad on so many threads of each process at the same time, all together; the best of
/// three trials. An Error on any rank is reported by that rank, and then every rank gets nothing. Collective.
std::optional<double> triad_bandwidth(const ranks::Group& ranks, const ranks::Group& node, int threads);

}  // namespace idlewave::spmv
