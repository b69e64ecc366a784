#pragma once
// GOAL schedules as text, as LogGOPSim's txt2bin takes them (https://github.com/spcl/LogGOPSim).

#include <string_view>

#include "probe/wire/result.h"
#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::sim::network {

/// Reads
///   num_ranks 2
///   rank 0 {
///     l1: calc 100 cpu 0
///     l2: send 8b to 1 tag 3 cpu 0 nic 0
///     l2 requires l1
///   }
///   rank 1 { recv 8b from 0 tag 3 }
/// where labels are optional, belong to one rank and stand above their use; `requires` waits for an end, `irequires`
/// for a start; `tag`, `cpu` and `nic` default to 0; source -1 and tag -1 stand for any; a line or a `;` ends a
/// statement; comments are // to the end of the line and /* */. Calculations are in nanoseconds. Every rank has one
/// block, in any order. `name` stands before each complaint: `name:line: what is wrong, and what would be accepted`.
/// Error: the first mistake, also a cycle of dependences (names its labels), a label used twice, a number out of range,
/// an end too early. Cost: linear; the text is not kept.
wire::Result<GoalSchedule> read_goal(std::string_view text, std::string_view name);

}  // namespace idlewave::sim::network
