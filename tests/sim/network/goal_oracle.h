#pragma once
// A slow, obvious LogGOPS simulation: the judge of the fast one. One queue, lists searched from the front, a search for
// dependents after each event; written from the rules in workloads/sim/network/goal_run.h.

#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/sim/network/goal_schedule.h"

namespace idlewave::tests {

/// As LogGOPSim takes them: whole nanoseconds, G and O for a byte.
struct WholeLogGops {
  std::int64_t L = 0, o = 0, g = 0, G = 0, O = 0;
  std::uint64_t S = 65535;
};

struct OracleOp {
  sim::network::GoalOp op;
  std::vector<std::size_t> ends;    ///< Of these places in the rank's list the end is needed.
  std::vector<std::size_t> starts;  ///< And of these the start.
};
using OraclePrograms = std::vector<std::vector<OracleOp>>;  ///< By rank.

struct OracleRun {
  std::vector<std::int64_t> finish_ns;
  std::size_t stuck = 0;  ///< Receives and messages that found no other.
};

/// b(n) = min(n b1, saturated), in any unit; of as many calculations as 1 to 40, so that shares are whole numbers.
struct OracleMemory {
  int ranks_per_domain = 1;
  std::int64_t b1 = 1, saturated = 1;
};

/// Whole nanoseconds; null: none.
struct OracleNoise {
  std::function<std::int64_t(int rank, int calc, std::int64_t begin, std::int64_t end)> after_calc;
  std::function<std::int64_t(int rank, std::int64_t begin, std::int64_t end)> after_overhead;
  std::function<std::int64_t(int rank, std::int64_t time)> free_from;
};

struct OracleMachine {
  const OracleMemory* memory = nullptr;  ///< Null: calculations share nothing.
  OracleNoise noise;
};

OracleRun simulate(const OraclePrograms& programs, const WholeLogGops& network, const OracleMachine& machine = {});

}  // namespace idlewave::tests
