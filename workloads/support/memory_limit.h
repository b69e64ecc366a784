#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "probe/wire/result.h"

namespace idlewave::support {

/// Fails if there is less memory in the machine, or if so many processes like this one may use less together, which need
/// equally much. `advice`: how to need less.
wire::Status check_memory(std::size_t bytes, const std::string& advice, int processes = 1);

/// What the control groups of this process may use, as a batch job or a container may be limited to; the largest number
/// where they are not. `root`: of the file system.
std::uint64_t memory_of_control_groups(const std::filesystem::path& root);

}  // namespace idlewave::support
