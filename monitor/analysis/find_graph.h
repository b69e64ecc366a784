#pragma once
// Whom each rank waits for, where no rule holds for all of them.

#include <vector>

#include "monitor/analysis/step_sample.h"

namespace idlewave::analysis {

struct Graph {
  /// By rank: offsets of those whom it waits for, the shorter way round.
  std::vector<std::vector<Rank>> awaited;
  /// Nanoseconds by which ends are off, in the mean; as mean_difference of an exchange. Infinity where nothing was found.
  double off = 0;
};

/// A rank goes on when it and all whom it waits for have begun to wait. One by one those are added that explain best when
/// a rank went on, as long as there is something to explain. `sample` has all ranks. Costs ranks^2 times rows, for each
/// partner of a rank.
Graph find_graph(const StepSample& sample);

}  // namespace idlewave::analysis
