#pragma once

#include <cstddef>

namespace idlewave::sim::contention {

/// What commands hold a rank for, seconds.
struct OrderedHolds {
  double begun = 0;        ///< By delays and noise that are over, and by what holds it now, to its end.
  double waiting = 0;      ///< By delays that have not begun.
  std::size_t delays = 0;  ///< So many of them.
};

}  // namespace idlewave::sim::contention
