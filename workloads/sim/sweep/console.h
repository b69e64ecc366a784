#pragma once
// What the programs of a sweep say.

#include <string>

namespace idlewave::sim::sweep {

inline constexpr int kSuccess = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadInput = 2;

/// One line on stderr; returns `code`.
int complain(const std::string& message, int code);

/// Prints a result to stdout.
void tell(const std::string& result);

}  // namespace idlewave::sim::sweep
