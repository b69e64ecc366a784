#pragma once
// A scenario that runs as far as it is told to, while operators inject.

#include <atomic>
#include <memory>
#include <optional>

#include "probe/wire/result.h"
#include "workloads/sim/contention/ordered_holds.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/core/recorder.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::contention {

using core::PhaseNoise;
using core::Recorder;
using wire::Rank;
using wire::Step;

/// Memory-bound and core-bound alike, from event to event. Times are seconds of simulated time. One thread.
class Simulation {
 public:
  /// `recorder` is the caller's and outlives the simulation. `noise`: null for silence. Error: what model_of refuses.
  static wire::Result<Simulation> create(const support::Scenario& scenario, Recorder& recorder,
                                         std::shared_ptr<const PhaseNoise> noise = nullptr);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  /// Everything up to and including that moment; in whatever slices, the same run. `stop`, if given, ends it early.
  void advance_until(double time, const std::atomic<bool>* stop = nullptr);
  bool finished() const;
  double time() const;  ///< Of the last thing that happened.

  /// The step at which order_delay would hold `rank`: one that it has yet to begin; without `step` the next one. Error:
  /// rank or step out of range, step already begun, no step left.
  wire::Result<Step> step_of_delay(Rank rank, std::optional<Step> step) const;

  /// Idle time before the work of that step, behind what else holds the rank there, as a hold of its own; `command` is
  /// told to the recorder. Error: as above, or a duration below zero.
  wire::Result<Step> order_delay(Rank rank, std::optional<Step> step, support::Nanoseconds duration,
                                 wire::CommandId command = 0);

  /// What order_delay ordered for the rank; how many. What has not begun goes. What holds the rank now, if by a command,
  /// ends at the moment to which the run was told to advance, as if it had been that long from the start. The scenario's
  /// own delays stay.
  std::size_t take_back_delays(Rank rank);

  /// For how long commands hold the rank: in all for no more than wire::kLongestHold, of which noise that a command
  /// makes longer counts as a whole.
  OrderedHolds ordered_holds(Rank rank) const;

  /// For each rank from the next step that it begins; null for silence.
  void set_noise(std::shared_ptr<const PhaseNoise> noise);

 private:
  struct Engine;
  explicit Simulation(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace idlewave::sim::contention
