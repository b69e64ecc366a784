#pragma once

#include <memory>

#include "probe/wire/result.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/support/noise_trace.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::noise {

using core::PhaseNoise;

/// The noise of a scenario, for any number of ranks; null if it is silent. `trace` is what load_noise_trace returned.
/// What it returns holds no reference, no state that changes, and may be asked by any number of threads at once.
/// Error: a value outside what the scenario file accepts.
wire::Result<std::unique_ptr<PhaseNoise>> make_noise(const support::Noise& noise,
                                                     const support::NoiseTrace& trace = {});

}  // namespace idlewave::sim::noise
