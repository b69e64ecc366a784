#pragma once
// A program's processes as coupled oscillators: the physical oscillator model of A. Afzal, G. Hager, G. Wellein, "Physical
// Oscillator Model for Supercomputing" (2023, arXiv 2310.05701) and "Exploring metrics for analyzing dynamic behavior in MPI
// programs via a coupled-oscillator model" (2025, arXiv 2506.02792). A phase grows by 2 pi with each step:
//
//   d theta_i / dt = 2 pi / (t_comp + t_comm) + zeta_i(t) + v_p / N  sum over j of  T_ij V(theta_j - theta_i)
//
// The potentials, N below the coupling and the topology are held against the authors' own program (RRZE-HPC/OSC-AD,
// kuramoto.m); beta and kappa of v_p, which it does not have, were held against nothing. The delay of a message, tau_ij of
// 2506.02792, is taken to be 0. Radians, seconds, radians per second. Pure.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace idlewave::theory {

/// V: how a process is pulled towards a partner, by how far the partner is ahead. Odd, between -1 and 1.
enum class Potential {
  kScalable,      ///< tanh: those behind are pulled along, so that all come into step.
  kBottlenecked,  ///< Eq. 4 of 2310.05701: pushed apart where they are close, for a resource that cannot feed all at once.
  kKuramoto,      ///< sin, of Kuramoto's own model.
};

struct Interaction {
  Potential potential = Potential::kScalable;
  /// Of the bottlenecked potential: -sin(3 pi / (2 sigma) x) where |x| < sigma, else the sign of x. Above 0.
  double sigma = 0;
};

double pull(const Interaction& interaction, double ahead);

/// The steepest that V is anywhere.
double steepest(const Interaction& interaction);

/// Distance at which two partners rest that the bottlenecked potential pushes apart: 2 sigma / 3, where V is 0 and rises.
double resting_distance(double sigma);

/// T: for each rank those that it receives from, rank - d for each distance d, once each; past the ends of an open chain is
/// nobody. No distance is 0; of a ring none is a multiple of `ranks`.
std::vector<std::vector<std::size_t>> topology(int ranks, std::span<const int> distances, bool ring);

/// v_p = beta kappa / (t_comp + t_comm), after 2310.05701. beta is 1 for eager messages and 2 by rendezvous, kappa the
/// farthest distance where one wait is for all and the sum of all where each has its own (`split`). `period`: a step's
/// length, above 0.
double coupling_strength(std::span<const int> distances, bool rendezvous, bool split, double period);

struct Oscillators {
  std::vector<std::vector<std::size_t>> partners;  ///< As `topology` has them.
  Interaction interaction;
  double coupling = 0;  ///< v_p / N.
};

/// From `phases` by one step of the classical Runge-Kutta method (fourth order), with the frequencies that each of them
/// would have alone.
void advance(const Oscillators& oscillators, std::span<const double> frequencies, double step,
             std::vector<double>& phases);

/// How many steps of the method a period needs: no faster change of a phase difference than a tenth in one of them.
double steps_needed(const Oscillators& oscillators, double period);

/// What disturbs them. A rank's period is longer by an exponentially distributed time of this mean, drawn anew for each
/// period and constant within one: zeta. A pure function of seed, rank and period.
struct PhaseDisturbance {
  double mean_noise = 0;
  std::uint64_t seed = 0;
};

struct PhaseMoment {
  double at = 0;
  std::vector<double> phases;
};

/// `periods` long, in `steps` of the method each, from `phases`; at `moments` moments (two at least, no more than `periods`
/// + 1) that lie about evenly, the first at the beginning, the last at the end, each at the end of a period.
std::vector<PhaseMoment> phases_over(const Oscillators& oscillators, const PhaseDisturbance& disturbance, double period,
                                     int periods, int steps, int moments, std::vector<double> phases);

}  // namespace idlewave::theory
