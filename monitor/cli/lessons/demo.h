#pragma once
// The verb `demo`.

#include "monitor/cli/options.h"

namespace idlewave::cli::lessons {

/// Exit code: 0, 1 for a run that failed or whose effect was not seen, 2 for a wrong call or a bad file.
int demo(const DemoOptions& options);

}  // namespace idlewave::cli::lessons
