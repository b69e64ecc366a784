#pragma once
// Noise as a running rank has it: it sleeps.

#include "workloads/sim/core/phase_noise.h"

namespace idlewave::ranks {

/// Work of this rank in one step, on the clock of support::monotonic_now.
struct Span {
  wire::Nanoseconds from{};
  wire::Nanoseconds to{};
};

/// Idle time after `work`, as `noise` has it for a run that began at `start`; the same as the simulator's. Told to the
/// probe as time that is neither work nor waiting. Nothing happens where there is none. Gives the moment of its end.
wire::Nanoseconds hold_noise(const sim::core::PhaseNoise& noise, wire::Rank rank, wire::Step step, const Span& work,
                             wire::Nanoseconds start);

}  // namespace idlewave::ranks
