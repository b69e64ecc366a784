#pragma once

namespace idlewave::cli {

struct DemoOptions;

/// Reads the command line, does what it says, returns the exit code. The one place that knows the flags. `demo` stands in a folder
/// above this one.
int dispatch(int argc, char** argv, int (*demo)(const DemoOptions&));

}  // namespace idlewave::cli
