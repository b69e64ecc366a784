#pragma once

#include <cstdint>

namespace idlewave::heat {

/// What a process had carried between it and others.
struct Traffic {
  std::int64_t messages = 0;  ///< Or one-sided transfers.
  std::int64_t bytes = 0;
};

}  // namespace idlewave::heat
