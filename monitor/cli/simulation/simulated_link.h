#pragma once
// A simulation that is watched without a clock: its time is the monitor's, however fast that goes. The same calls bring the same frames,
// to the last byte.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "monitor/link/link.h"

namespace idlewave::cli::simulation {

/// Plays the scenario, with `settings` (KEY=VALUE) and without its delays, as far as receive() is told. Takes orders as real ranks do.
/// Error: as of `idlewave sim`.
wire::Result<std::unique_ptr<link::Link>> open_simulation(const std::filesystem::path& scenario,
                                                          const std::vector<std::string>& settings,
                                                          const std::string& session);

}  // namespace idlewave::cli::simulation
