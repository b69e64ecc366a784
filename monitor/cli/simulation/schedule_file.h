#pragma once
// GOAL schedules on disk.

#include <filesystem>
#include <string_view>
#include <utility>

#include "probe/wire/result.h"
#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::cli::simulation {

/// Error: one line; also if the memory of this machine would not hold the schedule.
wire::Result<sim::network::GoalSchedule> read_schedule(const std::filesystem::path& path);

/// Error: the file exists, or can't be written whole; what there is of it then is taken away.
wire::Status write_schedule(const sim::network::GoalSchedule& schedule, const std::filesystem::path& path);

}  // namespace idlewave::cli::simulation
