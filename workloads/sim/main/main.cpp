// idlewave-sim: started by `idlewave sim`. See `idlewave sim --help`.
#include "probe/wire/last_words.h"
#include "workloads/sim/main/batch.h"
#include "workloads/sim/main/from_session.h"
#include "workloads/sim/main/goal.h"
#include "workloads/sim/main/live.h"
#include "workloads/sim/main/options.h"
#include "workloads/sim/main/parts.h"
#include "workloads/sim/sweep/launcher.h"
#include "workloads/sim/sweep/sweep.h"

int main(int argc, char** argv) try {
  using namespace idlewave::sim;
  if (const sweep::Launch launch = sweep::launch_of_environment(); launch.ranks > 1)
    return become_mpi_program(launch, argv);
  const Parsed parsed = parse(argc, argv);
  if (!parsed.options) return parsed.exit_code;
  Options options = *parsed.options;
  if (options.study) {
    if (const auto taken = sweep::take_study(options); !taken) return complain(taken.error().message, kBadInput);
  }
  if (!options.from.empty()) return run_from_session(options);
  if (!options.goal.empty()) return run_goal(options);
  if (!options.sweep.empty()) {
    const auto& stop = interrupted();
    const auto outcome =
        sweep::run_sweep(options, [&](std::size_t count) { return run_rows_here(options, count, stop); });
    if (!outcome.complaint.empty()) return complain(outcome.complaint, outcome.exit_code);
    tell(outcome.text);
    return outcome.exit_code;
  }
  const auto prepared = prepare(options);
  if (!prepared) return complain(prepared.error().message, kBadInput);
  return options.streams() ? run_live(*prepared, options) : run_batch(*prepared, options);
} catch (...) {
  return idlewave::sim::complain(idlewave::wire::last_words(), idlewave::sim::kBadInput);
}
