#pragma once
// Functions whose every bit is the same on every machine with IEEE 754 doubles. The C library promises that for + - * /
// and sqrt only: its log differs between versions and processors (with and without fused multiply-add), and one bit is
// enough to put two simulations of the same seed apart. These use the exact operations alone, and are compiled with
// -ffp-contract=off, so that no compiler fuses two of them.

namespace idlewave::sim::noise {

/// Natural logarithm of x in (0, inf), x not subnormal; absolute error below 2^-52 (1 + |log x|).
double portable_log(double x);

/// e^x for x <= 0, relative error below 2^-51; 0 below -708.
double portable_exp(double x);

}  // namespace idlewave::sim::noise
