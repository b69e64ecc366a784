#pragma once
// From round trips to what is known of a node's clock. Pure; one clock at a time.

#include <span>

#include "monitor/timeline/node_clock.h"

namespace idlewave::ingest {

using wire::Nanoseconds;

/// One round trip: at `at` the node's clock was ahead of the other by `offset`, give or take `half`. That is certain,
/// whatever way the trip was slow on, for the other clock was read while it was under way (F. Cristian, Probabilistic
/// clock synchronization, Distributed Computing 3, 1989).
struct ClockSample {
  Nanoseconds at{};  ///< Node's clock: the middle of the trip.
  Nanoseconds offset{};
  Nanoseconds half{};  ///< Of the time under way.
  friend bool operator==(const ClockSample&, const ClockSample&) = default;
};

/// The course of the offset: a knot each `spacing` from the first sample to beyond the last, so that
///   sum over samples ((o_i - z(t_i)) / s_i)^2 + sum over knots (z_k-1 - 2 z_k + z_k+1)^2 / (q spacing^3)
/// is least (E. T. Whittaker, On a new method of graduation, Proc. Edinburgh Math. Soc. 41, 1923): the smoothest course that
/// the samples allow, where the rate of a clock strays as a random walk of variance q t, q = (10^-7)^2 / s. What a trip was under
/// way longer than the shortest it may have lost on one way: s_i = half_i - half_min, and a quarter of half_min more. Without any
/// sample to the contrary clocks run alike to 200 ppm. `samples`: at least one, ascending; `spacing` above 0. O(samples + knots).
timeline::ClockCurve fit_clock(std::span<const ClockSample> samples, Nanoseconds spacing);

/// How far `curve` may be off at most from a second before the first sample to a second after the last: at a sample
/// |o_i - z(t_i)| + half_i, and more by what its rate may be wrong by for each second between a moment and the sample that
/// tells most of it: 10^-6, and four times the median half over the time from the first sample to the last, but no more than
/// 10^-3; of a single sample 200 ppm. O(samples).
Nanoseconds error_of(const timeline::ClockCurve& curve, std::span<const ClockSample> samples);

}  // namespace idlewave::ingest
