#pragma once
// The ghost (analysis/program/ghost.h) run by itself, from the first common step to the last.

#include <vector>

#include "monitor/analysis/program/program.h"

namespace idlewave::model {

/// How much later than the ghost each rank ended its last common step; less than 0: earlier. And what all of it took.
struct Behind {
  wire::Nanoseconds measured{}, model{};
  std::vector<wire::Nanoseconds> ranks;
};

/// Error: what the simulator refuses.
wire::Result<Behind> behind_ghost(const analysis::program::Program& program);

}  // namespace idlewave::model
