#pragma once
// The result of a run, for people and for programs.

#include <optional>
#include <string>

#include "workloads/sim/main/options.h"
#include "workloads/sim/main/parts.h"
#include "workloads/sim/network/goal_run.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim {

struct Timed {
  Run run;
  double wall_s = 0;  ///< Of the run alone, without the second one that averages need.
};

/// `findings`: what `idlewave report --json` says of the recorded run; empty: nothing. Its keys stand behind those of
/// the run.
std::string run_json(const support::Scenario& scenario, const Options& options, const Timed& timed,
                     const std::string& findings);
std::string run_text(const support::Scenario& scenario, const Options& options, const Timed& timed);

/// Of what a schedule was extrapolated.
struct Extrapolated {
  Rank ranks = 0;
  std::size_t collectives = 0;  ///< That were found and written anew.
};
std::string goal_json(const network::GoalRun& run, double wall_s, const std::optional<Extrapolated>& from);
std::string goal_text(const network::GoalRun& run, double wall_s, const std::optional<Extrapolated>& from);

}  // namespace idlewave::sim
