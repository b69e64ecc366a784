#pragma once
// From where it is known who waits for whom: ranks say it, or it is inferred.

#include <span>

#include "monitor/analysis/partners.h"

namespace idlewave::analysis {

/// As ranks say. Of those who don't say it, and of all where nobody does, as the times tell. Costs as infer_partners,
/// unless all say it, and as RankPartners.
Partners partners_in(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                     wire::Nanoseconds typical_step);

}  // namespace idlewave::analysis
