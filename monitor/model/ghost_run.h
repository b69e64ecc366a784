#pragma once
// The ghost (analysis/program/ghost.h) run by itself, from the first common step to the last.

#include <vector>

#include "monitor/analysis/program/program.h"

namespace idlewave::model {

/// How much later than the ghost each rank ended its last common step; less than 0: earlier. And what all of it took.
struct Behind {
  wire::Nanoseconds measured{}, model{};
  /// How far the ghost's own ends come apart, at most, where its work takes up to a nanosecond longer: in a domain that few of its
  /// ranks saturate, small differences grow.
  wire::Nanoseconds spread{};
  std::vector<wire::Nanoseconds> ranks;
};

/// Error: what the simulator refuses.
wire::Result<Behind> behind_ghost(const analysis::program::Program& program);

}  // namespace idlewave::model
