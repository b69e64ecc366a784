#pragma once
// What an engine asks of noise.

#include "probe/wire/vocabulary.h"

namespace idlewave::sim {

using wire::Rank;
using wire::Step;

/// Idle time that is added to compute phases. Immutable while a run uses it; any thread.
struct PhaseNoise {
  virtual ~PhaseNoise() = default;
  /// Idle time in seconds after the work of (rank, step) that ran from begin to end (seconds of simulated time). A pure
  /// function of its arguments.
  virtual double after(Rank rank, Step step, double begin, double end) const = 0;
};

}  // namespace idlewave::sim
