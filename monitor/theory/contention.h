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

}  // namespace idlewave::theory
