#pragma once
// Detours of a processor, as the selfish benchmark finds them (P. Beckman, K. Iskra, K. Yoshii, S. Coghlan, A. Nataraj,
// "Benchmarking the effects of operating system interference on extreme-scale parallel machines", 2008; netgauge: T.
// Hoefler, T. Schneider, A. Lumsdaine, "Characterizing the influence of system noise on large-scale applications by
// simulation", SC10): a loop that does nothing but read the clock. An iteration that takes much longer than the shortest
// one was interrupted.
//
// `now` is a clock: called without arguments it returns wire::Nanoseconds that never go back.

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "workloads/support/noise_trace.h"

namespace idlewave::selfish {

using support::NoiseTrace;
using wire::Nanoseconds;

/// What can be seen by a clock.
struct Rhythm {
  Nanoseconds shortest{};      ///< Of all iterations that were not 0; 0 if the clock stood still.
  Nanoseconds granularity{};   ///< All differences are multiples of it.
  std::uint64_t repeated = 0;  ///< Readings that were the same as the one before: the clock is coarser than the loop.
};

/// Of so many iterations.
template <class Clock>
Rhythm rhythm_of(Clock&& now, std::uint64_t iterations) {
  Rhythm rhythm{Nanoseconds::max(), {}, 0};
  Nanoseconds last = now();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    const Nanoseconds moment = now();
    const Nanoseconds taken = moment - last;
    last = moment;
    rhythm.granularity = Nanoseconds{std::gcd(rhythm.granularity.count(), taken.count())};
    if (taken.count() == 0)
      ++rhythm.repeated;
    else
      rhythm.shortest = std::min(rhythm.shortest, taken);
  }
  if (rhythm.granularity.count() == 0) rhythm.shortest = {};
  return rhythm;
}

/// What is looked for, and how far.
struct Search {
  Nanoseconds shortest{};   ///< An iteration without a detour.
  Nanoseconds threshold{};  ///< A longer iteration holds a detour.
  Nanoseconds duration{};   ///< The loop ends after that time ...
  std::uint64_t most = 0;   ///< ... or after so many detours.
};

struct Measurement {
  /// A detour takes what its iteration took beyond the shortest one. The last one, of no duration, says when the loop
  /// ended.
  NoiseTrace trace;
  std::uint64_t iterations = 0;
};

template <class Clock>
Measurement measure(Clock&& now, const Search& search) {
  Measurement found;
  found.trace.resize(search.most + 1);  // so that no page is missing when it is written
  std::uint64_t detours = 0;
  const Nanoseconds begin = now();
  Nanoseconds last = begin;
  while (last - begin < search.duration && detours < search.most) {
    const Nanoseconds moment = now();
    ++found.iterations;
    if (moment - last > search.threshold) found.trace[detours++] = {last - begin, moment - last - search.shortest};
    last = moment;
  }
  found.trace[detours] = {last - begin, {}};
  found.trace.resize(detours + 1);
  return found;
}

}  // namespace idlewave::selfish
