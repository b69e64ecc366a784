#pragma once
// Looks at TOML text before the parser does: toml++ makes a table for each part of a dotted key and goes down them by
// recursion, so that a long enough key ends the stack. Private to this folder.

#include <optional>
#include <string_view>

namespace idlewave::support {

inline constexpr int kMostKeyParts = 8;

/// The first line with a key of more than kMostKeyParts parts; none if there is none. Brackets and inline tables, whose
/// depth toml++ limits itself, begin a key anew.
std::optional<int> line_of_deep_key(std::string_view toml);

}  // namespace idlewave::support
