#pragma once

#include <cstddef>
#include <string>

#include "probe/wire/result.h"

namespace idlewave::support {

/// Fails if there is less memory in the machine, or if this process may use less. `advice`: how to need less.
wire::Status check_memory(std::size_t bytes, const std::string& advice);

}  // namespace idlewave::support
