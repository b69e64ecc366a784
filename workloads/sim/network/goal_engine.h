#pragma once
// The engine of GOAL schedules: what each event leads to, by the rules of goal_run.h.

#include <cstdint>
#include <memory>

#include "probe/wire/result.h"
#include "workloads/sim/network/goal_options.h"
#include "workloads/sim/network/goal_schedule.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// A run that goes as far as it is told to. One thread.
class GoalEngine {
 public:
  virtual ~GoalEngine() = default;
  /// Everything up to and including that moment, nanoseconds. Without any of GoalOptions but the first: all of it.
  virtual void advance_until(std::int64_t time) = 0;
  virtual bool finished() const = 0;  ///< Nothing can happen any more.
  virtual bool is_too_long() const = 0;
  virtual GoalRun take_run() = 0;  ///< Once, when it is finished or `stop` has ended it.
};

/// The caller keeps the schedule, and what `options` point to, for the engine's life. Error: as run() of goal_run.h,
/// but for noise that makes the run too long.
wire::Result<std::unique_ptr<GoalEngine>> make_engine(const GoalSchedule& schedule, const support::LogGops& network,
                                                      const GoalOptions& options);

}  // namespace idlewave::sim::network
