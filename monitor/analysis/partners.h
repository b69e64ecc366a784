#pragma once
// Who waits for whom.

#include <span>
#include <vector>

#include "monitor/timeline/timeline.h"

namespace idlewave::analysis {

/// Of a program whose ranks all have partners at the same distances: rank r can't end a step before rank r + o has done
/// its own part of that step, for each offset o. A receive from r - d makes the offset -d, a send by rendezvous to r + d
/// the offset d; what waits for one another within a step makes the sums of offsets.
struct Partners {
  /// Ascending, without 0. Empty: nobody was seen to wait for anybody.
  std::vector<wire::Rank> offsets;
  /// Rank 0 is beside the last one.
  bool ring = true;

  /// Rank + offset, round the ring; -1 outside an open chain, and where that is the rank itself.
  wire::Rank at(wire::Rank rank, wire::Rank offset, wire::Rank ranks) const;
};

/// When somebody was late, so that others had to wait.
struct LateMoment {
  wire::Rank rank = 0;
  wire::Step step = wire::kNoStep;
  wire::Nanoseconds at{};
};

/// From the times alone. A rank that ends a step before another, which is late, has done its own part of it does not
/// wait for that one; an offset is one at which that (all but) never happens. Looked for in the steps that follow the
/// latest of `moments`. Offsets that others imply (a neighbour's neighbour who is reached within a step either way)
/// can't be told apart from real ones, and make no difference to who is late because of whom. Costs at most some million
/// looks at steps, however long the session.
Partners infer_partners(const timeline::Timeline& timeline, std::span<const LateMoment> moments,
                        wire::Nanoseconds typical_step);

}  // namespace idlewave::analysis
