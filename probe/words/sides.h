#pragma once
// Sizes with several sides as people write them: `160x48`, `16x16x8`.

#include <cstddef>
#include <string_view>
#include <vector>

#include "probe/wire/result.h"

namespace idlewave::words {

/// What is accepted: how many sides, each how long, and one such size.
struct Sides {
  std::size_t fewest = 1;
  std::size_t most = 1;
  int shortest = 1;
  int longest = 1;
  std::string_view example;
};

/// Error: what was written, and what is accepted.
wire::Result<std::vector<int>> parse_sides(std::string_view text, const Sides& accepted);

}  // namespace idlewave::words
