#pragma once
// What is asked of a run of a GOAL schedule, and whether it can be done.

#include "probe/wire/result.h"
#include "workloads/sim/network/goal_options.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// With memory domains, noise, an observer or `stop`, which a plain run need not look after.
bool is_extended(const GoalOptions& options);

/// Error: as run() of goal_run.h, but for noise that makes the run too long.
wire::Status check(const GoalSchedule& schedule, const support::LogGops& network, const GoalOptions& options);

/// What is wrong with such a run.
wire::Error too_long_with_noise();

}  // namespace idlewave::sim::network
