#pragma once
// Who wants to know what the ranks do, as it happens. Times are seconds since the start of the run.

#include "probe/wire/vocabulary.h"

namespace idlewave::sim::core {

using wire::Phase;
using wire::Rank;
using wire::Step;

/// Owned by the caller of a run. Calls come in the order of time for each rank; from a simulation that goes as far as it
/// is told to, in the order of time altogether.
class Recorder {
 public:
  virtual ~Recorder() = default;
  virtual void step_begins(Rank rank, Step step, double time) = 0;
  /// The rank is in `phase` from now on: kDelay if it is delayed, kCompute, kNoise if there is any, kWait (also where
  /// nothing is left to wait for), and so on in the next step; kNone once its last step is over.
  virtual void enters(Rank rank, Step step, Phase phase, double time) = 0;
  /// An operator's command, not the program itself, is why the rank is held in the kDelay or kNoise that it enters
  /// next.
  virtual void held_by(Rank /*rank*/, wire::CommandId /*command*/) {}
  /// Whatever is told from now on happens at that time or later.
  virtual void nothing_before(double /*time*/) {}
};

/// Without a recorder: compiles to nothing.
struct Unobserved {
  void step_begins(Rank, Step, double) const {}
  void enters(Rank, Step, Phase, double) const {}
  void held_by(Rank, wire::CommandId) const {}
};

struct Observed {
  Recorder* recorder;
  void step_begins(Rank rank, Step step, double time) const { recorder->step_begins(rank, step, time); }
  void enters(Rank rank, Step step, Phase phase, double time) const { recorder->enters(rank, step, phase, time); }
  void held_by(Rank rank, wire::CommandId command) const { recorder->held_by(rank, command); }
};

}  // namespace idlewave::sim::core
