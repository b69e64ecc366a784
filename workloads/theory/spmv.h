#pragma once
// Sparse matrix-vector multiplication with compressed rows (CRS), after G. Schubert, H. Fehske, G. Hager, G. Wellein,
// "Hybrid-parallel sparse matrix-vector multiplication with explicit communication overlap", 2011 (schubert-2011).
// Bytes, floating-point operations, seconds. Pure.

namespace idlewave::theory {

/// Eq. 1: bytes per flop, with N_nzr nonzeros in a row on average. kappa: bytes of the right-hand side that are loaded
/// again per nonzero, since the cache is too small; 0: none.
double crs_code_balance(double nonzeros_per_row, double kappa);

/// Eq. 2: the same where local and nonlocal parts are multiplied one after the other, and the result is written twice.
double split_crs_code_balance(double nonzeros_per_row, double kappa);

/// kappa by eq. 1, of a bandwidth and a performance (flop/s) that were measured together.
double kappa_of(double bandwidth, double performance, double nonzeros_per_row);

/// The same by eq. 2.
double split_kappa_of(double bandwidth, double performance, double nonzeros_per_row);

}  // namespace idlewave::theory
