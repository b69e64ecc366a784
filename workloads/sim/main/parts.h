#pragma once
// What the ways to run a scenario share.

#include <string>

#include "probe/wire/result.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/run.h"
#include "workloads/sim/main/options.h"
#include "workloads/sim/simulator.h"
#include "workloads/sim/sweep/console.h"

namespace idlewave::sim {

using core::Fractions;
using core::Model;
using core::PhaseNoise;
using core::Run;
using core::RunOptions;
using sweep::complain;
using sweep::interrupted;
using sweep::kBadInput;
using sweep::kFailed;
using sweep::kSuccess;
using sweep::tell;

/// Reads the scenario with the settings of the command line.
wire::Result<Prepared> prepare(const Options& options);

}  // namespace idlewave::sim
