#pragma once

#include <cstdint>
#include <string_view>

#include "probe/wire/result.h"

namespace idlewave::cli {

/// What --memory says: bytes for the history of a session. Error: what would be accepted.
wire::Result<std::uint64_t> parse_memory(std::string_view text);

}  // namespace idlewave::cli
