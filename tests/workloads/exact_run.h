#pragma once
// A slow, obvious, exact simulation of a bulk-synchronous program on shared memory interfaces: the judge of the virtual
// sockets and of iw-ring, itself checked against the published reference case. Seconds and bytes; long double inside.

#include <functional>
#include <vector>

#include "workloads/support/scenario.h"

namespace idlewave::tests {

using support::Communication;
using support::Delay;

struct ExactProgram {
  int ranks = 40;
  int ranks_per_domain = 10;
  std::function<double(int active)> bandwidth;  ///< b(n) of a domain; null: core-bound.
  double volume = 0;                            ///< Per rank and step.
  double time = 0;                              ///< Per step, if core-bound.
  int steps = 200;
  Communication communication;  ///< protocol: kRendezvous, or anything else for eager.
  std::vector<Delay> delays;
  std::function<double(int rank, int step)> noise;  ///< Idle time after the work; null: none.
  /// Instead, if not null: of work that ran from `begin` to `end`.
  std::function<double(int rank, int step, double begin, double end)> noise_in_time;
};

struct WorkSpan {
  double from = 0;
  double to = 0;
  double noise = 0;  ///< That came behind it.
};

struct ExactRun {
  double makespan = 0;
  std::vector<std::vector<double>> step_start;  ///< [rank][step]
  std::vector<double> finish;                   ///< Of each rank: when it had waited for the last time.
  std::vector<std::vector<WorkSpan>> work;      ///< [rank][step]
  std::vector<double> domain_bytes;

  /// Time-average of the number of ranks of a domain inside their work, over fractions of the makespan.
  double active_mean(int domain, int ranks_per_domain, double from, double to) const;
};

ExactRun simulate(const ExactProgram& program);

}  // namespace idlewave::tests
