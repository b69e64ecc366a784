#pragma once
// Steps in one way on all processes.

#include "workloads/hybrid/figures.h"
#include "workloads/hybrid/options.h"
#include "workloads/ranks/place.h"

namespace idlewave::hybrid {

/// `step`: that the probe is told; goes on counting. Rank 0 alone has the figures of all. Collective.
Run measure(const Way& way, const Options& options, const ranks::Group& ranks, const ranks::Group& node,
            std::int64_t& step);

}  // namespace idlewave::hybrid
