#pragma once
// Bandwidth contention on a memory domain, after A. Afzal, G. Hager, G. Wellein,
// "Desynchronization and wave pattern formation in MPI-parallel and hybrid memory-bound programs", 2020 (afzal-2020).
// Seconds, bytes, ranks. Pure.

#include <span>

namespace idlewave::theory {

/// Bandwidth of n active processes that need core_bandwidth each on a domain that gives at most saturated_bandwidth:
/// b(n) = min(n b(1), b_sat). n may be fractional (a time average). Bytes per second.
double domain_bandwidth(double active, double core_bandwidth, double saturated_bandwidth);

/// N_sc: the number of processes from which on b(n) no longer rises. 0 if either figure is not known (<= 0).
double saturation_point(double core_bandwidth, double saturated_bandwidth);

/// The same of a curve b(1), b(2), ...: the smallest n whose bandwidth lies within 5 % of the largest. 0 of an empty one.
int saturation_point(std::span<const double> curve);

/// Time of one compute phase when n processes of a domain are active and each moves `volume` bytes: n V / b(n) (eq. 1).
/// `active` > 0.
double phase_time(double active, double volume, double core_bandwidth, double saturated_bandwidth);

/// Eq. 3: code balance of the Chebyshev filter's kernel (ChebFD_Op) on blocks of `block_vectors` vectors, bytes per
/// flop, with block vectors used from cache as often as can be: (260 / n_b + 80) / 146. Of the topological insulator that
/// is n_b = 1 to 128; 2 saturates a socket, 32 is close to core-bound.
double chebfd_code_balance(double block_vectors);

}  // namespace idlewave::theory
