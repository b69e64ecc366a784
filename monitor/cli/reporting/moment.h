#pragma once
// Moments of a session in a report's words.

#include <fmt/format.h>

#include <chrono>
#include <string>

#include "probe/words/quantity.h"

namespace idlewave::cli::reporting {

/// To a hundredth of a second, and in seconds however late, as the screen has them and as its key g takes them. Earlier ones
/// with three digits, since runs of microseconds are simulated.
inline std::string moment_in_words(wire::Nanoseconds at) {
  if (std::chrono::abs(at) < std::chrono::seconds(10)) return words::format_duration(at);
  return fmt::format("{:.2f} s", double(at.count()) * 1e-9);
}

}  // namespace idlewave::cli::reporting
