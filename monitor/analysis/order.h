#pragma once
// The run as a whole, as a set of coupled oscillators: how far its ranks are in phase. The figures are those with which
// A. Afzal, G. Hager, G. Wellein, "Exploring metrics for analyzing dynamic behavior in MPI programs via a
// coupled-oscillator model" (2025, arXiv 2506.02792) look at a model of such programs; here they are taken of what the
// ranks did.

#include <optional>
#include <vector>

#include "monitor/analysis/window.h"
#include "monitor/timeline/timeline.h"

namespace idlewave::analysis {

/// A rank's phase is 2 pi for each step that it has begun since the first, and the part of 2 pi that has passed of the
/// step it is in, by the typical length of a step; it stays at the end of a step that lasts longer. Radians.
struct Order {
  Nanoseconds at{};
  int ranks = 0;
  /// Kuramoto's order parameter: the absolute mean of e^(i phase). 1 in lockstep, 0 when splayed out over a step.
  double parameter = 0;
  /// Shannon's entropy of the phases, modulo 2 pi, over 16 bins around their mean, divided by that of the even
  /// distribution: 0 when they lie in one bin, 1 when evenly in all.
  double entropy = 0;
  double gradient = 0;    ///< Mean absolute difference of the phases of neighbours in rank.
  double difference = 0;  ///< Between the rank that is farthest and the one that is least far.
};

/// Of the ranks that ran at `at`; nothing of fewer than two, or before a step has ended.
std::optional<Order> order_at(const timeline::Timeline& timeline, Nanoseconds at);

/// At `points` moments at equal distances, the first at window.from and the last just before window.to; where it is
/// defined.
std::vector<Order> order_over(const timeline::Timeline& timeline, Window window, int points);

}  // namespace idlewave::analysis
