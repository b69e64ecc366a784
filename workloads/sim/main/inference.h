#pragma once
// From what ranks did to the scenario that explains it.

#include <string>
#include <vector>

#include "workloads/sim/main/session_history.h"

namespace idlewave::sim {

/// From whom ranks receive, as far as the times tell. A rank that leaves its wait of a step before another, which is
/// late, has posted in that step does not receive from it; a partner is one for whom that (all but) never happens.
/// Where all ranks are in step, everybody could be a partner.
struct Pattern {
  std::vector<Rank> distances;  ///< As in a scenario: send to rank + d, receive from rank - d. Ascending.
  bool ring = true;             ///< Also across the ends, unless there is evidence against it.
  bool certain = false;         ///< Else nobody was ever late, and the distances are the usual ones, -1 and 1.
  double transfer = 0;          ///< T, seconds: median of what a wait lasted beyond the last post.
};
Pattern pattern_of(const SessionHistory& history);

/// Of all ranks, as scenario_of writes them.
std::size_t number_of_delays(const SessionHistory& history);

/// As a scenario file (TOML), which says of each figure where it comes from. `factor`: for so many times the ranks, of
/// which r + j p, with p in the recording, has the delays of r.
std::string scenario_of(const SessionHistory& history, const Pattern& pattern, const std::string& source,
                        Rank factor = 1);

}  // namespace idlewave::sim
