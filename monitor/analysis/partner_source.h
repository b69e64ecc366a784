#pragma once
// From where it is known who waits for whom: ranks say it, or it is inferred.

#include <span>

#include "monitor/analysis/partners.h"

namespace idlewave::analysis {

/// As all ranks say; else as infer_partners has it. Costs as that, and as RankPartners.
Partners partners_in(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                     wire::Nanoseconds typical_step);

}  // namespace idlewave::analysis
