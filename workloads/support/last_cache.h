#pragma once

#include <cstdint>
#include <filesystem>

namespace idlewave::support {

/// Bytes that all caches of the last level of this machine hold together; 0: not known. `processors`: where the kernel says it.
std::uint64_t last_level_caches(const std::filesystem::path& processors = "/sys/devices/system/cpu");

}  // namespace idlewave::support
