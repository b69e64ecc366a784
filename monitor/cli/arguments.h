#pragma once

namespace idlewave::cli {

/// Reads the command line, does what it says, returns the exit code. The one place that knows the flags.
int dispatch(int argc, char** argv);

}  // namespace idlewave::cli
