#pragma once
// The command line of `idlewave calibrate`.

#include <optional>
#include <string>

#include "monitor/cli/calibration/measurement.h"

namespace idlewave::cli::calibration {

struct Options {
  Plan plan;
  std::string output;  ///< Machine file; empty: none.
  bool likwid = true;  ///< Also ask likwid-bench, where it is installed.
  bool json = false;
};

/// Exit code instead of options: 0 after --help, 2 (with one line on stderr) if the line can't be taken.
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

}  // namespace idlewave::cli::calibration
