#pragma once
// A calibration as a machine file: the [machine] of a scenario.

#include <string>

#include "monitor/cli/calibration/calibration.h"

namespace idlewave::cli::calibration {

/// support::parse_machine reads it. Curves of the loops behind the first stand in it as comments.
std::string machine_file(const Calibration& calibration);

/// Before anything is measured. Error: it exists, or its folder can't be written to.
wire::Status check_free(const std::string& path);
/// Error: it could not be written whole; then there is none.
wire::Status write_machine_file(const std::string& path, const std::string& text);

}  // namespace idlewave::cli::calibration
