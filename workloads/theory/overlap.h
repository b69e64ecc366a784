#pragma once
// What programs could win if their collectives did not block, after P. Widener, S. Levy, K. Ferreira, T. Hoefler,
// "On noise and the performance benefit of nonblocking collectives", 2016 (widener-2016). Seconds; a speed-up is a ratio
// of times. Pure.

#include <span>

namespace idlewave::theory {

/// One stretch of a process (Fig. 1): a blocking communication, and the work beside which it stands.
struct Stretch {
  double communication = 0;  ///< c_i
  double noise = 0;          ///< n_i: by how much others who were late made that longer
  double work = 0;           ///< W_i: with what noise of its own made that longer, checkpoints too
  bool collective = true;    ///< Else from point to point, which stays blocking.
};

/// Eq. 1: a process's time to solution, with `last_work` W_k.
double blocking_time(std::span<const Stretch> stretches, double last_work);

/// Eq. 2: the same where each collective overlaps with the work before it, and with nothing else.
double overlapped_time(std::span<const Stretch> stretches, double last_work);

/// Eqs. 4 and 5 (and 3, whence they come): no program on a silent system is sped up by more than this by overlapping each
/// communication with one stretch of work: min((1 + beta) / beta, 1 + beta), at most 2. `beta` > 0: computation over
/// communication, of the program that blocks. Table 1 has it for six programs.
double overlap_bound(double beta);

/// Eqs. 6 and 7: the same where noise makes communication `inflation` times as long, sum(c_i + n_i) / sum(c_i) >= 1:
/// min(1 + beta / inflation, 1 + inflation / beta), at most 2, where both are equal. Without noise that is overlap_bound.
double overlap_bound(double beta, double inflation);

}  // namespace idlewave::theory
