#pragma once
// Steps of a plate on all processes.

#include "workloads/heat/report.h"
#include "workloads/ranks/place.h"

namespace idlewave::heat {

/// `step`: that the probe is told; goes on counting. The same on all ranks. Collective.
Run measure(const Square& square, Memory memory, const Options& options, const ranks::Group& ranks,
            const ranks::Group& node, std::int64_t& step);

}  // namespace idlewave::heat
