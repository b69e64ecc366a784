#pragma once
// A number with its noun.

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace idlewave::analysis {

/// "1 frame", "3 frames".
inline std::string plural(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace idlewave::analysis
