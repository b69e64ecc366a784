#include "monitor/cli/simulation/ways.h"
#include "monitor/cli/verbs.h"
#include "workloads/sim/sweep/console.h"
#include "workloads/sim/sweep/sweep.h"

namespace idlewave::cli::simulation {

int run(const SweepOptions& options) {
  const std::atomic<bool>& stop = sim::sweep::interrupted();
  const auto outcome = sim::sweep::run_sweep(
      options, [&](std::size_t count) { return sim::sweep::run_rows_here(options, count, stop); });
  if (!outcome.complaint.empty()) return fail(outcome.complaint, outcome.exit_code);
  print(outcome.text);
  return outcome.exit_code;
}

}  // namespace idlewave::cli::simulation
