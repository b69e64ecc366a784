#pragma once
// Whoever watches a simulation may order delays and noise, and take them back, as with real ranks.

#include <memory>
#include <vector>

#include "probe/wire/frame.h"
#include "probe/wire/result.h"
#include "workloads/sim/core/phase_noise.h"
#include "workloads/sim/simulator.h"

namespace idlewave::cli::simulation {

using sim::core::PhaseNoise;
using wire::Rank;
using wire::Step;

/// Turns commands into delays and noise of a simulation. One thread.
class Operator {
 public:
  /// Simulation and scenario outlive the operator. Unless it may inject, it does nothing but take back.
  Operator(sim::Simulation& simulation, const sim::Prepared& prepared, bool may_inject)
      : simulation_(simulation), prepared_(prepared), may_inject_(may_inject) {}

  /// For all ranks that it names, or for none. Error: why not.
  wire::Status obey(const wire::Command& command);

 private:
  wire::Status carry_out(const wire::Command& command, const wire::DelayOrder& order);
  wire::Status carry_out(const wire::Command& command, const wire::NoiseOrder& order);
  wire::Status carry_out(const wire::Command& command, const wire::ClearOrder& order);
  wire::Status carry_out(const wire::Command& command, const wire::UnknownOrder& order);
  wire::Result<Step> place_of(Rank rank, const wire::DelayOrder& order) const;
  wire::Status check_load(const wire::Command& command, wire::Nanoseconds wanted) const;
  std::vector<Rank> ranks_of(const wire::Command& command) const;
  wire::Status replace_noise(const wire::Command& command, std::shared_ptr<const PhaseNoise> noise);
  wire::Status end_noise_of(wire::CommandId command);
  wire::Status apply_noise();

  sim::Simulation& simulation_;
  const sim::Prepared& prepared_;
  bool may_inject_;
  /// Oldest first; the latest that names a rank counts.
  std::vector<std::shared_ptr<const struct NoiseOfCommand>> ordered_;
};

}  // namespace idlewave::cli::simulation
