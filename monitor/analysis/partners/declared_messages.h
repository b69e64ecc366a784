#pragma once
// The messages that all ranks of a program say they exchange, as a model of it takes them.

#include <optional>
#include <vector>

#include "monitor/analysis/partners/said_waits.h"

namespace idlewave::analysis::partners {

/// What ranks say of their messages, where all say the same; those of a chain that have no partner leave it out. Of a run
/// in which that changes, in its longest part.
struct DeclaredMessages {
  /// A rank sends to rank + d and receives from rank - d, in the order of its waits.
  std::vector<wire::Rank> distances;
  bool ring = false;  ///< Also across the ends.
  bool rendezvous = false;
  bool split = false;    ///< A wait for each distance.
  bool changes = false;  ///< In other parts of the run ranks say other things.
};
/// Nothing where that is not how ranks wait: collectives, steps that differ, sends to others than receives say.
std::optional<DeclaredMessages> declared_messages(const SaidWaits& said);

}  // namespace idlewave::analysis::partners
