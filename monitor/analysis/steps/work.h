#pragma once
// What a rank does in a step before it waits, all ranks and steps alike.

#include <optional>
#include <vector>

#include "probe/wire/vocabulary.h"

namespace idlewave::analysis::steps {

struct Work {
  /// Without delays and noise: a twentieth of all steps take no longer. At least 1 ns.
  wire::Nanoseconds time{};
  /// Of a program that moves data in domains whose model is known: bytes, and b(1) and b(n) of the first domain.
  struct Memory {
    double volume = 0;
    double core_bandwidth = 0;
    double saturated_bandwidth = 0;
    /// b(1), b(2), ... where more is known than those two.
    std::vector<double> curve = {};
  };
  std::optional<Memory> memory;
};

}  // namespace idlewave::analysis::steps
