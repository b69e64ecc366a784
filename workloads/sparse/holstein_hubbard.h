#pragma once
// The Hamiltonian of the Holstein-Hubbard model: electrons that hop on a ring of sites and repel each other, coupled to
// phonons; schubert-2011, section 1.3.1.
//
//   H = -t sum_<ij>,s (c+_is c_js + h.c.) + U sum_i n_i,up n_i,down
//       - g w0 sum_m (b+_m + b_m) sum_i f_m(i) n_i + w0 sum_m b+_m b_m
//
// f_m, m = 1 to sites - 1: an orthonormal real Fourier basis of the functions on the ring that have no mean. The mode
// that is the same on all sites only sees the number of electrons, which is conserved, and is left out: 6 sites and 15
// phonons have C(20, 5) = 15504 states of the lattice, and 3 + 3 electrons C(6, 3)^2 = 400, as the paper says.

#include "probe/wire/result.h"
#include "workloads/sparse/matrix.h"

namespace idlewave::sparse {

/// Which basis elements are numbered contiguously.
enum class Numbering {
  kElectrons,  ///< HMeP: row = phonon state * electron states + electron state.
  kPhonons,    ///< HMEp: row = electron state * phonon states + phonon state.
};

struct HolsteinHubbard {
  int sites = 6;
  int electrons = 6;  ///< Half of them with spin up; one more if odd.
  int phonons = 15;   ///< At most, in all modes together.
  Numbering numbering = Numbering::kElectrons;
  double hopping = 1;    ///< t
  double repulsion = 4;  ///< U
  double coupling = 1;   ///< g
  double frequency = 1;  ///< w0
};

inline constexpr int kMostSites = 14;
inline constexpr int kMostPhonons = 1000;

/// Error: more rows than kMostRows. Sites from 1 to kMostSites, electrons from 0 to 2 for each site, phonons from 0 to
/// kMostPhonons.
wire::Result<Matrix> holstein_hubbard(const HolsteinHubbard& model);

}  // namespace idlewave::sparse
