#pragma once
// What a scenario file asks of iw-ring.

#include <filesystem>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/ring/options.h"

namespace idlewave::ring {

/// Reads the scenario into `options`: all that it says about machine, program, communication, delays and noise. `ranks`
/// is the size of the job. Error: the first key that is wrong, or that real ranks can't obey.
wire::Status read_scenario(const std::filesystem::path& path, const std::vector<std::string>& settings, Rank ranks,
                           Options& options);

/// The domains and bandwidths of a machine file, as `idlewave calibrate` writes it. Error: as above.
wire::Status read_machine(const std::filesystem::path& path, Options& options);

}  // namespace idlewave::ring
