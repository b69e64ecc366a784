#pragma once
// How fast an idle wave runs and how far it comes, after A. Afzal, G. Hager, G. Wellein, "Desynchronization and wave
// pattern formation in MPI-parallel and hybrid memory-bound programs", 2020 (afzal-2020). Seconds, ranks. Pure.

#include <span>

namespace idlewave::theory {

/// What every rank does in one step once its work is done: for each distance d it sends to rank + d and receives from
/// rank - d.
struct Exchange {
  /// In the order in which they are waited for; none is 0.
  std::span<const int> distances;
  /// A send waits for its receive too (rendezvous); else it ends when it is posted (eager).
  bool rendezvous = false;
  /// Posts and waits for one distance after the other (split waits); else posts all and waits once.
  bool split = false;
};

/// Of the front that runs towards higher ranks and of the one towards lower ones. 0: nobody waits that way.
struct RanksPerStep {
  int up = 0;
  int down = 0;
  friend bool operator==(const RanksPerStep&, const RanksPerStep&) = default;
};

/// sigma d of eq. 2, exactly. With one wait a front comes as far in a step as the farthest who waits: by rendezvous that
/// is a partner on either side. With split waits a post comes after the waits before it, so that a delay is handed on
/// within a step and the distances of one direction add up. The paper's sigma in {1, 2} covers patterns in which all
/// distances are +-d; Fig. 5c, whose fronts run 3 and 1 ranks a step, is {1, -1, -2}, eager, split.
RanksPerStep ranks_per_step(const Exchange& exchange);

/// Eq. 2: speed of an edge, sigma d / (T_exec + T_comm), ranks per second; `distance` is the farthest partner's.
/// `execution` is what the work of a step takes on that side of the edge (phase_time of contention.h for as many as are
/// active there), so that the leading and the trailing edge of one wave may differ. 0 if the step takes no time.
double wave_speed(double sigma, double distance, double execution, double communication);

/// Ranks that a delay reaches in one direction: where the trailing edge, `delay` seconds behind, has caught up with the
/// leading one. Infinite if it is not faster, as on a silent system with core-bound work (section 3.2), 0 where nobody
/// waits. Derived of eq. 2, for long waves: ahead of a wave a step lasts as long as it ordinarily does; behind it ranks
/// don't wait for each other, and up to the saturation point share no bandwidth, so that a step lasts as long as the
/// work of one rank alone. With exponential noise of mean mu, core-bound work and eager messages in one direction that
/// is T + 2 mu ahead and T + mu behind: the reach is delay / mu. Ahead of the wave ranks have to be in step, but for their
/// noise. Simulated, what a front loses for each rank is within 15 % of this under noise; a memory-bound wave comes up to
/// 20 ranks farther, since ranks are out of step where little is left of it.
double wave_reach(double delay, double leading_speed, double trailing_speed);

/// Ranks that a front comes at its speed before noise has used up the delay: exponential noise of mean mu, added to each
/// phase of core-bound work. A front that comes `ranks_per_step` ranks far in a step loses mu to all others for that, as
/// they wait for the latest of several and so lose 2 mu: `ranks_per_step` D / mu, of eager messages to one distance. Where
/// more partners are waited for, all others lose more than 2 mu, and it is less. Lateness may go farther, but more slowly.
/// Infinite without noise; 0 where nobody waits.
double noisy_reach(double delay, int ranks_per_step, double mean_noise);

/// How far the front towards higher ranks has come on a ring when it meets the one towards lower ranks, all others
/// having been reached; without the latter, all the way round to the rank before the origin. Both 0: 0.
int meeting_distance(int ranks, double up_ranks_per_step, double down_ranks_per_step);

}  // namespace idlewave::theory
