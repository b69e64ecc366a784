#pragma once
// One process with several threads, after R. Rabenseifner's lecture on hybrid programming, 2007 (rabenseifner-2007). Pure.

namespace idlewave::theory {

/// A program in which the first of n threads communicates while the others sleep (masteronly), by shares of its time.
struct Masteronly {
  double communication = 0;  ///< f_comm
  /// f_comp,overlap: work that does not wait for what is communicated. The rest is work that does.
  double overlap = 0;
};

/// How many times as fast it is if m of its n threads are reserved for the communication, and the others work meanwhile
/// (funneled and reserved). Derived of the slide "Performance ratio (theory)", so that its extremes come out: the m share
/// the communication, the n - m the work that overlaps, all n do the rest after both. 0 < m < n.
double funneled_reserved_ratio(const Masteronly& program, int threads, int reserved);

/// The extremes: 1 + m (1 - 1/n) where both are done at the same time and nothing else is to do; 1 - m/n where nothing
/// is communicated.
double best_reserved_ratio(int threads, int reserved);
double worst_reserved_ratio(int threads, int reserved);

}  // namespace idlewave::theory
