#pragma once
// What an engine asks of noise.

#include "probe/wire/vocabulary.h"

namespace idlewave::sim::core {

using wire::Rank;
using wire::Step;

/// Idle time that is added to compute phases. Immutable while a run uses it; any thread.
struct PhaseNoise {
  virtual ~PhaseNoise() = default;
  /// Idle time in seconds after the work of (rank, step) that ran from begin to end (seconds of simulated time). A pure
  /// function of its arguments.
  virtual double after(Rank rank, Step step, double begin, double end) const = 0;
  /// Comes at moments of simulated time, whatever the rank does then; else it follows compute phases alone.
  virtual bool is_in_time() const { return false; }
  /// Whose command that idle time stems from, at least in part; 0: the program's own. Pure as well.
  virtual wire::CommandId ordered_by(Rank /*rank*/, Step /*step*/, double /*begin*/, double /*end*/) const { return 0; }
  /// From when on, at `time` or later, `rank` is free of what interrupted it while it had no work: what began before
  /// `time`, one after another. For engines in which a rank that waits can be interrupted. Pure as well.
  virtual double free_from(Rank /*rank*/, double time) const { return time; }
  /// The first moment, at `time` or later, at which an interruption of `rank` begins; `time` if that is not known. So
  /// an engine need not ask about what is over before.
  virtual double next_from(Rank /*rank*/, double time) const { return time; }
};

}  // namespace idlewave::sim::core
