#include "workloads/sim/main/parts.h"

namespace idlewave::sim {

wire::Result<Prepared> prepare(const Options& options) {
  auto prepared = prepare(options.scenario, options.settings);
  if (prepared && options.without_delays) prepared->scenario.delays.clear();
  return prepared;
}

}  // namespace idlewave::sim
