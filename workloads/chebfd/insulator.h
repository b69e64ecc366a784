#pragma once
// The Hamiltonian of a topological insulator on a cubic lattice, the matrix of afzal-2020, section 6 (Topi-X-Y-Z):
//
//   H = -t sum_n,j (psi+_(n+e_j) (G1 - i G_(j+1)) / 2 psi_n + h.c.) + sum_n psi+_n (V_n G0 + 2 G1) psi_n,  j = 1, 2, 3,
//
// with t = 1 and G = (1, tau_z, tau_x s_x, tau_x s_y, tau_x s_z), after A. Pieper, M. Kreutzer, A. Alvermann et al.,
// "High-performance implementation of Chebyshev filter diagonalization for interior eigenvalue computations", J. Comput.
// Phys. 325 (2016), the paper's reference [8]. Boundaries are periodic. Energies in units of t.

#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "workloads/sparse/matrix.h"

namespace idlewave::chebfd {

using Complex = std::complex<double>;
using sparse::Index;

inline constexpr int kOrbitals = 4;  ///< Rows of a site, one behind the other.

struct Insulator {
  std::array<int, 3> size{16, 16, 8};  ///< Sites along x, y and z; z runs fastest.
  double disorder = 0;                 ///< V_n is drawn from [-disorder / 2, disorder / 2).
  std::uint64_t seed = 1;
};

Index sites_of(const Insulator& insulator);
Index rows_of(const Insulator& insulator);

struct Element {
  Index column = 0;
  Complex value;
};

/// Appends a row, columns ascending, each once: 13 of them, or fewer along a side of less than three sites. Any rank may
/// make any row.
void append_row(const Insulator& insulator, Index row, std::vector<Element>& out);

/// No eigenvalue is farther from 0: 5 where nothing is drawn, which E below has at k = (pi, pi, pi).
double largest_energy(const Insulator& insulator);

/// Without disorder exp(i k n) times a spinor is an eigenvector, with E = +-sqrt((2 - sum cos k_j)^2 + sum sin^2 k_j).
struct Wave {
  std::array<double, 3> k{};
  double energy = 0;
  std::array<Complex, kOrbitals> spinor{};  ///< Of length 1.
};

/// That which belongs to site `number` of the lattice of k.
Wave wave_of(const Insulator& insulator, Index number, bool above_zero);
Complex element_of(const Wave& wave, const Insulator& insulator, Index row);

}  // namespace idlewave::chebfd
