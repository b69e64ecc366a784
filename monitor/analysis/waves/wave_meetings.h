#pragma once
// What waves of one session do to each other.

#include <vector>

#include "monitor/analysis/partners/partners.h"
#include "monitor/analysis/waves/wave.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis::waves {

/// Of waves, oldest first, that were traced one by one: says where fronts met those of others, and measures anew the speed of
/// those that came to where others had been.
void settle_meetings(const timeline::Timeline& timeline, const partners::Partners& partners, std::vector<Wave>& waves);

}  // namespace idlewave::analysis::waves
