#pragma once
// Chebyshev filter diagonalization, after A. Afzal, G. Hager, G. Wellein, "Desynchronization and wave pattern formation
// in MPI-parallel and hybrid memory-bound programs", 2020 (afzal-2020), section 6. Pure.

namespace idlewave::theory {

/// Eq. 3: code balance of the filter's kernel (ChebFD_Op) on blocks of `block_vectors` vectors, bytes per flop, with
/// block vectors used from cache as often as can be: (260 / n_b + 80) / 146. Of the topological insulator that is n_b = 1
/// to 128; 2 saturates a socket, 32 is close to core-bound.
double chebfd_code_balance(double block_vectors);

}  // namespace idlewave::theory
