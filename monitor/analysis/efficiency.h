#pragma once
// Efficiencies after the POP Centre of Excellence's metrics: parallel = load_balance * communication.

#include "monitor/analysis/activity.h"

namespace idlewave::analysis {

struct Efficiency {
  double parallel = 0;       ///< Mean compute time of the ranks / elapsed time.
  double load_balance = 0;   ///< Mean compute time / largest compute time.
  double communication = 0;  ///< Largest compute time / elapsed time.
};
/// Over the ranks that have told anything within the window; all 0 when none has.
Efficiency efficiency(const timeline::Timeline& timeline, Window window);

}  // namespace idlewave::analysis
