#pragma once
// Efficiencies after the POP Centre of Excellence's metrics: parallel = load_balance * communication.

#include <optional>

#include "monitor/analysis/domains/activity.h"

namespace idlewave::analysis::session {

struct Efficiency {
  double parallel = 0;                 ///< Compute time of all ranks / time that they were there.
  std::optional<double> load_balance;  ///< parallel / communication; nothing where no rank computed.
  double communication = 0;            ///< Largest share of its time that a rank computed.
};
/// Over the time within the window of which it is known what the ranks did: a rank is there from its start to its stop.
/// Nothing when no rank was. Where all ranks are there throughout, these are POP's own: mean compute time / elapsed
/// time, and so on.
std::optional<Efficiency> efficiency(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis::session
