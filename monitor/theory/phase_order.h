#pragma once
// How far oscillators are in phase: the figures with which A. Afzal, G. Hager, G. Wellein, "Exploring metrics for
// analyzing dynamic behavior in MPI programs via a coupled-oscillator model" (2025, arXiv 2506.02792) look at their model.
// The same are taken of the model (oscillators.h) and of ranks that ran. Pure.

#include <span>

namespace idlewave::theory {

struct PhaseOrder {
  /// Kuramoto's order parameter: the absolute mean of e^(i phase). 1 in lockstep, 0 when splayed out over a step.
  double parameter = 0;
  /// Shannon's entropy of the phases, modulo 2 pi, over 16 bins around their mean, divided by that of the even
  /// distribution: 0 when they lie in one bin, 1 when evenly in all.
  double entropy = 0;
  double gradient = 0;    ///< Mean absolute difference of the phases of neighbours in rank, radians.
  double difference = 0;  ///< Between the one that is farthest and the one that is least far, radians.
};

/// Of at least two phases in the order of ranks, in turns: 2 pi is 1.
PhaseOrder phase_order(std::span<const double> turns);

}  // namespace idlewave::theory
