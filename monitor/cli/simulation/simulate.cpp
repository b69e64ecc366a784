#include "monitor/cli/simulation/verbs.h"
#include "monitor/cli/simulation/ways.h"
#include "workloads/sim/sweep/launcher.h"

namespace idlewave::cli::simulation {

int simulate(int argc, char** argv) {
  using namespace sim::sweep;
  if (const Launch launch = launch_of_environment(); launch.ranks > 1) return become_mpi_program(launch, argv);
  const Parsed parsed = parse(argc, argv);
  if (!parsed.call) return parsed.exit_code;
  return std::visit([](const auto& options) { return run(options); }, *parsed.call);
}

}  // namespace idlewave::cli::simulation
