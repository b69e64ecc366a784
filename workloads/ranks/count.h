#pragma once
// How many ranks, in words.

#include <fmt/format.h>

#include <string>

namespace idlewave::ranks {

/// "1 rank", "2 ranks".
inline std::string ranks_in_words(int ranks) { return fmt::format("{} rank{}", ranks, ranks == 1 ? "" : "s"); }

}  // namespace idlewave::ranks
