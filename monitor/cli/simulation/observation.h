#pragma once
// A run that is looked at while it is made: what `idlewave report` would find in it, and its recording.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "monitor/cli/observer.h"
#include "workloads/sim/simulator.h"

namespace idlewave::cli::simulation {

struct Wanted {
  /// Of the scenario's file, for the roster.
  std::string program;
  std::string session;
  /// Bytes for the history in which findings are made; none: no findings.
  std::optional<std::uint64_t> memory;
  /// Session file; empty: none.
  std::string record;
  /// Part of the run in which ranks at work are counted.
  sim::core::Fractions window;
};

struct Observation {
  sim::Played played;
  /// Null without Wanted::memory.
  std::unique_ptr<Observer> observer;
  /// By domain; empty for a run that was ended before its time, and for those that `run` adds up in another order.
  std::vector<double> active_means;
};

/// Error: why the run can't be looked at, as it is larger than a session can be.
wire::Status check_observation(const support::Scenario& scenario);

/// Before a run that is to be recorded. Error: also if the file exists.
wire::Status check_recording(const support::Scenario& scenario, const std::string& path);

/// Of a run of so many seconds. Error: it is longer than a session can be.
wire::Status check_length(double makespan);

/// Makes the run once, to its end or until `stop`: the file is a sound session up to there. `run`: what the same
/// scenario came to unobserved. Error: one line; also as check_length.
wire::Result<Observation> observe(const sim::Prepared& prepared, const sim::core::Run& run, const Wanted& wanted,
                                  const std::atomic<bool>& stop);

}  // namespace idlewave::cli::simulation
