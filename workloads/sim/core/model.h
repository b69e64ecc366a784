#pragma once
// A scenario as the contention engines need it: checked, in seconds, with one unit of work per rank and step.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "probe/wire/result.h"
#include "workloads/sim/core/partners.h"
#include "workloads/support/scenario.h"

namespace idlewave::sim::core {

using wire::Step;

/// Messages above this go by rendezvous where the scenario leaves it open ("auto"), bytes.
inline constexpr std::uint64_t kEagerLimit = 64 * 1024;

/// No run is to last longer, seconds: 2^61 ns, 73 years. A session tells of it in nanoseconds.
inline constexpr double kLongestRun = double(std::int64_t{1} << 61) * 1e-9;

/// Idle time before the work of (rank, step), seconds.
using Delays = std::map<std::pair<Rank, Step>, double>;

/// Immutable.
struct Model {
  Rank ranks;
  Rank ranks_per_domain;
  Step steps;
  bool core_bound;
  bool rendezvous;
  double transfer;  ///< T, seconds.
  Partners partners;
  /// [n]: for one unit of work of each of n active ranks, N V / b(N) of afzal-2020, eq. 1.
  std::vector<double> seconds;
  Delays delays;  ///< Those of the same rank and step added up.

  Rank domains() const { return (ranks + ranks_per_domain - 1) / ranks_per_domain; }
};

/// Error: what the contention engines don't simulate (LogGOPS, real kernels), or what is out of range in a scenario
/// that was built by hand.
wire::Result<Model> model_of(const support::Scenario& scenario);

}  // namespace idlewave::sim::core
