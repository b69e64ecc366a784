#pragma once
// A simulation that is watched without a clock: its time is the monitor's, however fast that goes. The same calls bring the same frames,
// to the last byte.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "monitor/link/link.h"
#include "workloads/support/scenario.h"

namespace idlewave::cli::simulation {

/// Whether delays may be ordered while such a scenario is simulated: then its own are left to whoever watches.
bool takes_orders(const support::Scenario& scenario);

/// Its watcher ends it.
class SimulatedLink : public link::Link {
 public:
  /// Here and now, as a program that is ended; what is left comes with the next receive().
  virtual void end() = 0;
};

/// Plays the scenario, with `settings` (KEY=VALUE), as far as receive() is told. Where it takes orders, it does so as real
/// ranks do, and leaves out the scenario's delays.
/// Error: as of `idlewave sim`.
wire::Result<std::unique_ptr<SimulatedLink>> open_simulation(const std::filesystem::path& scenario,
                                                             const std::vector<std::string>& settings,
                                                             const std::string& session);

}  // namespace idlewave::cli::simulation
