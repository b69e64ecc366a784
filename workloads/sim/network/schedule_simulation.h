#pragma once
// A GOAL schedule whose ranks are watched: what they calculate, and when they wait.

#include <atomic>
#include <memory>
#include <optional>

#include "probe/wire/result.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/sim/network/simulation.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::network {

/// A schedule, and on what it runs.
struct ScheduledProgram {
  GoalSchedule schedule;
  support::LogGops network;
  std::optional<support::Machine> machine;        ///< None: calculations share nothing.
  std::shared_ptr<const core::PhaseNoise> noise;  ///< Null: silent.
};

/// Nobody watches. Error: as run() of goal_run.h, or bandwidths that are not above zero.
wire::Result<GoalRun> run(const ScheduledProgram& program, const std::atomic<bool>* stop = nullptr);

/// Those of 0 ns are none.
bool is_calculation(const GoalOp& op);
/// Whether the k-th calculation of one rank is anything like the k-th of another, so that it is a step.
bool has_steps(const GoalSchedule& schedule);

/// The machine on which a session shows the schedule's ranks, as a scenario: its own, or one domain where they share
/// nothing.
support::Scenario scenery_of(const ScheduledProgram& program);

/// A rank computes while one of its processors calculates, and waits all other time, also while messages occupy it; with
/// several processors noise counts as calculation. Where every rank has one processor and the same number of
/// calculations (those of 0 ns are none), calculation k begins step k; else there are no steps. All ranks end together,
/// when the last of them has nothing more to do, as MPI_Finalize has it. The run is that of run(), to the nanosecond.
class ScheduleSimulation : public Simulation {
 public:
  virtual GoalRun take_run() = 0;  ///< Once, when it is finished or stopped.
};
wire::Result<std::unique_ptr<ScheduleSimulation>> simulate(const ScheduledProgram& program, core::Recorder& recorder,
                                                           const std::atomic<bool>* stop);

}  // namespace idlewave::sim::network
