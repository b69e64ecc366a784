#pragma once
// What programs could win if their collectives did not block, after P. Widener, S. Levy, K. Ferreira, T. Hoefler,
// "On noise and the performance benefit of nonblocking collectives", 2016 (widener-2016). Seconds; a speed-up is a ratio
// of times. Pure.

namespace idlewave::theory {

/// Eqs. 4 and 5 (and 3, whence they come): no program on a silent system is sped up by more than this by overlapping each
/// communication with one stretch of work: min((1 + beta) / beta, 1 + beta), at most 2. `beta` > 0: computation over
/// communication, of the program that blocks. Table 1 has it for six programs.
double overlap_bound(double beta);

/// Eqs. 6 and 7: the same where noise makes communication `inflation` times as long, sum(c_i + n_i) / sum(c_i) >= 1:
/// min(1 + beta / inflation, 1 + inflation / beta), at most 2, where both are equal. Without noise that is overlap_bound.
double overlap_bound(double beta, double inflation);

}  // namespace idlewave::theory
