#pragma once
// A scenario that runs as far as it is told to, while operators inject.

#include <memory>
#include <optional>

#include "probe/wire/result.h"
#include "workloads/sim/contention/phase_noise.h"
#include "workloads/sim/contention/recorder.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

/// Memory-bound and core-bound alike, from event to event. Times are seconds of simulated time. One thread.
class Simulation {
 public:
  /// `recorder` is the caller's and outlives the simulation. `noise`: null for silence. Error: what model_of refuses.
  static wire::Result<Simulation> create(const support::Scenario& scenario, Recorder& recorder,
                                         std::shared_ptr<const PhaseNoise> noise = nullptr);
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  void advance_until(double time);  ///< Everything up to and including that moment; in whatever slices, the same run.
  bool finished() const;
  double time() const;        ///< Of the last thing that happened.
  double next_event() const;  ///< When the next thing happens, unless something is ordered; infinite once finished.

  /// Idle time before the work of a step that `rank` has yet to begin; without `step` the next one. Adds to what was
  /// ordered before. Returns the step. Error: rank or step out of range, step already begun, no step left.
  wire::Result<Step> order_delay(Rank rank, std::optional<Step> step, support::Nanoseconds duration);

  /// For each rank from the next step that it begins; null for silence.
  void set_noise(std::shared_ptr<const PhaseNoise> noise);

 private:
  struct Engine;
  explicit Simulation(std::unique_ptr<Engine> engine);
  std::unique_ptr<Engine> engine_;
};

}  // namespace idlewave::sim
