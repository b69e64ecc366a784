#pragma once

namespace idlewave::cli::calibration {

constexpr int kBusy = 3;  ///< Exit code: somebody else was at work on this machine, or repeats scatter too much.

/// argv[0] is the verb itself. Exit code.
int calibrate(int argc, char** argv);

}  // namespace idlewave::cli::calibration
